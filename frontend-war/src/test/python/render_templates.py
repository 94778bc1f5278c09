"""Renders every template of src/test/resources/templates, and the shipped one, over a set of conversations with the environment that
`transformers` compiles chat templates in, and writes src/test/resources/rendered.json. Needs `transformers` and jinja2 3.1; run it from the
module's folder.

With a folder as its argument it takes the *.jinja files there, and writes rendered.json beside them: published templates are not ours to keep,
so PublishedTemplatesTest reads them where -Ddynamo.test.templates=FOLDER says that there are some."""

import datetime
import json
import pathlib
import sys

import jinja2
from transformers.utils import chat_template_utils

NOW = datetime.datetime(2026, 3, 5, 12, 7, 9)


class Noon(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW


chat_template_utils.datetime = Noon

WEATHER = {"type": "function", "function": {"name": "get_weather", "description": "Get the \"weather\" <now> & here", "parameters": {
    "type": "object", "properties": {"location": {"type": "string", "description": "Città"}, "days": {"type": "integer", "minimum": 1, "maximum": 1.5, "default": 3},
                                     "units": {"type": "string", "enum": ["C", "F"], "default": None}, "at": {"type": "array", "items": {"type": "number"}}, "any": {"type": ["string", "null"]},
                                     "where": {"oneOf": [{"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat"]}, {"type": "boolean"}]}}, "required": ["location"]}}}
TIME = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}


def user(content):
    return {"role": "user", "content": content}


def assistant(content, **more):
    return {"role": "assistant", "content": content, **more}


def tool(content, id="call_1"):
    return {"role": "tool", "tool_call_id": id, "content": content}


def call(name, arguments, id="call_1"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


SYSTEM = {"role": "system", "content": "  You are terse.\n"}
HARD = "Ünïcödé 漢字 🙂👩‍👩‍👧 \"quoted\" 'single' \\back\\slash\n\n\ttab <b>&amp;</b> {{ no }} {% tag %} \u2028 \u0001 \x7f"
ROME = {"location": "Rome", "days": 2}
CONVERSATIONS = {
    "plain": ([user("What is the weather in Paris?")], None, {}),
    "system": ([SYSTEM, user("hi")], None, {}),
    "developer": ([{"role": "developer", "content": "Be brief."}, user("hi")], None, {}),
    "turns": ([SYSTEM, user("a"), assistant(" b "), user("c"), assistant("d"), user("e?")], None, {}),
    "hard text": ([{"role": "system", "content": HARD}, user(HARD), assistant(HARD), user(HARD)], None, {}),
    "empty content": ([user(""), assistant(""), user("")], None, {}),
    "null content": ([user("a"), assistant(None), user("b")], None, {}),
    "null content with a call": ([user("w"), assistant(None, tool_calls=[call("get_weather", ROME)]), tool("21")], [WEATHER], {}),
    "tools": ([user("weather?")], [WEATHER, TIME], {}),
    "tools and system": ([SYSTEM, user("weather?")], [WEATHER], {}),
    "call object": ([user("w"), assistant("", tool_calls=[call("get_weather", {"location": "Zürich \"x\"", "days": 2, "f": 1.0, "n": None, "b": True, "l": [1, 2.5e-9]})]), tool("{\"t\": 21}")], [WEATHER], {}),
    "call string": ([user("w"), assistant("", tool_calls=[call("get_weather", "{\"location\": \"Rome\"}")]), tool("21"), assistant("It is 21."), user("thanks")], [WEATHER], {}),
    "two calls": ([user("w"), assistant("Let me look.", tool_calls=[call("get_weather", {"location": "Rome"}, "abcdefghi"), call("get_time", {}, "c2")]), tool("21", "abcdefghi"), tool("12:00", "c2"), user("ok?")], [WEATHER, TIME], {}),
    "calls in turns": ([SYSTEM, user("w"), assistant("", tool_calls=[call("get_weather", ROME)]), tool("21"), assistant("", tool_calls=[call("get_time", {})]), tool("12"), assistant("It is 21 at 12."), user("and now?")], [WEATHER, TIME], {}),
    "result without a call": ([user("w"), tool("21")], None, {}),
    "reasoning": ([user("t"), assistant("4", reasoning_content="2 and 2", thinking="2 and 2"), user("u"), assistant("5", reasoning_content="\nmore\n", thinking="\nmore\n")], None, {}),
    "reasoning inline": ([user("t"), assistant("<think>\n2 and 2\n</think>\n\n4"), user("u")], None, {}),
    "reasoning with a call": ([user("t"), assistant("", reasoning_content="look it up", thinking="look it up", tool_calls=[call("get_time", {})]), tool("12")], [TIME], {}),
    "thinking": ([user("t")], None, {"enable_thinking": True, "thinking": True, "reasoning_effort": "high"}),
    "not thinking": ([user("t")], None, {"enable_thinking": False, "thinking": False, "reasoning_effort": "low"}),
    "date": ([user("t")], None, {"date_string": "01 Jan 2026"}),
    "documents": ([user("t")], None, {"documents": [{"id": 1, "title": "A", "text": "a a"}, {"id": 2, "title": "B", "text": "b"}]}),
    "roles out of order": ([user("a"), user("b")], None, {}),
    "unknown role": ([user("a"), {"role": "critic", "content": "x"}], None, {}),
    "parts": ([user([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}])], None, {}),
    "image": ([user([{"type": "image"}, {"type": "text", "text": "what is it?"}, {"type": "image"}]), assistant("A cat."), user("sure?")], None, {}),
    "no generation prompt": ([user("a"), assistant("b")], None, {"add_generation_prompt": False}),
    "channel tags": ([user("a"), assistant("<|channel|>final<|message|>b"), user("c")], None, {}),
}


def main():
    module = pathlib.Path(__file__).resolve().parents[3]
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else module / "src/test/resources/templates"
    sources = {path.stem: path.read_text() for path in sorted(folder.glob("*.jinja"))}
    if len(sys.argv) == 1:
        sources["tiny"] = (module.parent / "server-config/src/main/liberty/config/models/tiny/chat_template.jinja").read_text()
    conversations = {}
    for name, (messages, tools, args) in CONVERSATIONS.items():
        conversations[name] = {"messages": messages, "tools": tools, "documents": None, "bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": True, **args}
    rendered = []
    for template, source in sources.items():
        try:
            compiled = chat_template_utils._compile_jinja_template(source)
        except jinja2.exceptions.TemplateError as e:
            print(f"{template} is no template: {e}")
            continue
        for name, values in conversations.items():
            case = {"template": template, "conversation": name}
            try:
                case["text"] = compiled.render(**values)
            except (jinja2.exceptions.TemplateError, TypeError, ValueError, AttributeError, KeyError, RecursionError) as e:
                case["error"] = str(e)
                case["refused"] = type(e) is jinja2.exceptions.TemplateError
            rendered.append(case)
    out = (folder if len(sys.argv) > 1 else module / "src/test/resources") / "rendered.json"
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in rendered)
    named = ",\n".join(f"{json.dumps(name)}: {json.dumps(values, ensure_ascii=False)}" for name, values in conversations.items())
    out.write_text(f'{{"conversations": {{\n{named}\n}},\n"rendered": [\n{lines}\n]}}\n')
    failed = sum("error" in case for case in rendered)
    print(f"{len(rendered)} cases, {failed} of them errors, to {out}")


main()
