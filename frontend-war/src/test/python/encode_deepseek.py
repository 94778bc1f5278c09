"""Encodes conversations with the published encoders of DeepSeek V3.2 and V4, and writes src/test/resources/deepseek.json, which
DeepSeekFormatTest compares with our prompts. Run it from the module's folder with the paths of the two files, `encoding_dsv32.py` from the
model's repository and `encoding_dsv4.py` (or vLLM's copy of it, `tokenizers/deepseek_v4_encoding.py`)."""

import copy
import importlib.util
import json
import pathlib
import sys

WEATHER = {"type": "function", "function": {"name": "get_weather", "description": "Get the \"weather\" <now> & here", "parameters": {
    "type": "object", "properties": {"location": {"type": "string", "description": "Città 漢字"}, "days": {"type": "integer", "maximum": 1.5, "default": None}}, "required": ["location"]}}}
TIME = {"type": "function", "function": {"name": "get_time", "description": "", "parameters": {"type": "object", "properties": {}}, "strict": True}}
FORM = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object", "properties": {"città": {"type": "string"}}}}}
HARD = "Ünïcödé 漢字 🙂👩‍👩‍👧 \"quoted\" 'single' \\back\\slash\n\n\ttab <b>&amp;</b> {{ no }} {content} {tool_schemas} \u2028 \x7f"
ALL = {"location": HARD, "days": 2, "f": 1.0, "e": 2.5e-9, "n": None, "b": True, "l": [1, "é"], "o": {"k": {}}}


def system(content, **more):
    return {"role": "system", "content": content, **more}


def user(content):
    return {"role": "user", "content": content}


def developer(content, **more):
    return {"role": "developer", "content": content, **more}


def assistant(content, reasoning=None, *calls):
    message = {"role": "assistant", "content": content}
    if reasoning is not None:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = list(calls)
    return message


def tool(content, id="a"):
    return {"role": "tool", "tool_call_id": id, "content": content}


def call(name, arguments, id="a"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}}


TALK = [user("a"), assistant("b", "think b"), user("c"), assistant("d", "think d"), user("e")]
CALLS = [user("w"), assistant("", "look", call("get_weather", {"location": "Rome"}), call("get_time", {}, "b")), tool("21"), tool("12:00", "b")]
ANSWERED = [*CALLS, assistant("It is 21.", "easy"), user("and now?")]
CONVERSATIONS = {
    "user": ([user("hi")], None, None),
    "system": ([system("  You are terse.\n"), user("hi")], None, None),
    "turns": ([system("s"), *TALK], None, None),
    "hard text": ([system(HARD), user(HARD), assistant(HARD, HARD), user(HARD)], None, None),
    "empty content": ([system(""), user(""), assistant("", ""), user("")], None, None),
    "tools without system": ([user("w")], [WEATHER, TIME], None),
    "tools behind the system's text": ([system("s"), user("w")], [WEATHER], None),
    "response format": ([system("s"), user("w")], None, FORM),
    "tools and response format": ([user("w")], [TIME], FORM),
    "call": ([user("w"), assistant("Let me see.", "look", call("get_weather", ALL)), tool("21")], [WEATHER], None),
    "calls": (CALLS, [WEATHER, TIME], None),
    "calls without tools": (CALLS, None, None),
    "call without thought": ([user("w"), assistant("", None, call("get_time", {})), tool("12")], [TIME], None),
    "calls in turns": ([user("w"), assistant("", "one", call("get_time", {})), tool("12"), assistant("", "two", call("get_weather", {"location": "R"})), tool("21"), assistant("done", "three")], [WEATHER, TIME], None),
    "answered calls": (ANSWERED, [WEATHER, TIME], None),
    "answered calls without tools": (ANSWERED, None, None),
    "null content with a call": ([user("w"), assistant(None, "t", call("get_time", {})), tool("12")], [TIME], None),
    "developer": ([system("s"), developer("d")], None, None),
    "developer with tools": ([system("s"), developer("d", tools=[WEATHER], response_format=FORM)], None, None),
    "two users": ([user("a"), user("b")], None, None),
    "late system": ([user("a"), system("s"), user("b")], None, None),
    "final assistant": ([user("a"), assistant("b", "t")], None, None),
}
ONLY_V4 = {
    "results out of order": ([*CALLS[:2], CALLS[3], CALLS[2], user("then?")], [WEATHER, TIME], None),
    "earlier developer": ([developer("d"), assistant("b", "t"), user("c")], None, None),
    "earlier developer with tools": ([developer("d"), assistant("b", "t"), user("c")], [TIME], None),
    "system alone": ([system("s")], None, None),
    "system before assistant": ([system("s"), assistant("a", "t"), user("b")], None, None),
}
ARGS_V32 = [{"thinking": True}, {"thinking": False}]
ARGS_V4 = [*ARGS_V32, {"thinking": True, "drop_thinking": False}, *({"thinking": True, "reasoning_effort": effort} for effort in ("minimal", "medium", "high", "xhigh", "max"))]


def encoder(path):
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.encode_messages


def prepared(messages, tools, form):
    messages = copy.deepcopy(messages)
    extra = {key: value for key, value in {"tools": tools, "response_format": form}.items() if value}
    if extra:
        first = next((message for message in messages if message["role"] == "system"), None)
        if first is None:
            first = {"role": "system"}
            messages.insert(0, first)
        first.update(extra)
    for message in messages:
        if "reasoning_content" in message:
            message["reasoning"] = message["reasoning_content"]  # as vLLM names it
    return messages


def cases(encode, conversations, all_args, effort):
    for name, (messages, tools, form) in conversations.items():
        for args in all_args if name in ("user", "turns") else all_args[:3]:
            options = {"drop_thinking": args["drop_thinking"]} if "drop_thinking" in args else {}
            if effort:
                asked = args.get("reasoning_effort")
                options["reasoning_effort"] = {"minimal": "low", "medium": "low", "max": "max"}.get(asked, "high")
            prompt = encode(prepared(messages, tools, form), "thinking" if args["thinking"] else "chat", **options)
            yield {"name": f"{name} {json.dumps(args)}", "messages": messages, "tools": tools, "response_format": form, "args": args, "prompt": prompt}


v32, v4 = map(encoder, sys.argv[1:3])
all_cases = {
    "deepseek_v32": list(cases(v32, CONVERSATIONS, ARGS_V32, False)),
    "deepseek_v4": list(cases(v4, {**CONVERSATIONS, **ONLY_V4}, ARGS_V4, True)),
}
lines = [f"{json.dumps(model)}: [\n" + ",\n".join(json.dumps(case, ensure_ascii=False) for case in found) + "\n]" for model, found in all_cases.items()]
pathlib.Path("src/test/resources/deepseek.json").write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")
