"""Renders every template of src/test/resources/templates, and the shipped one, over a set of conversations with jinja2 and the
settings of `transformers`, and writes src/test/resources/rendered.json. Needs jinja2 3.1; run it from the module's folder."""

import datetime
import json
import pathlib

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        next(parser.stream)
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.Scope(body)


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda fmt: datetime.datetime.now().strftime(fmt)
    return env


WEATHER = {"type": "function", "function": {"name": "get_weather", "description": "Get the \"weather\" <now> & here", "parameters": {
    "type": "object", "properties": {"location": {"type": "string", "description": "Città"}, "days": {"type": "integer", "minimum": 1, "maximum": 1.5}}, "required": ["location"]}}}
TIME = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}


def user(content):
    return {"role": "user", "content": content}


def assistant(content, **more):
    return {"role": "assistant", "content": content, **more}


def call(name, arguments, id="call_1"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


SYSTEM = {"role": "system", "content": "  You are terse.\n"}
HARD = "Ünïcödé 漢字 🙂👩‍👩‍👧 \"quoted\" 'single' \\back\\slash\n\n\ttab <b>&amp;</b> {{ no }} {% tag %} \u2028 \u0001 \x7f"
CONVERSATIONS = {
    "plain": ([user("What is the weather in Paris?")], None, {}),
    "system": ([SYSTEM, user("hi")], None, {}),
    "turns": ([SYSTEM, user("a"), assistant(" b "), user("c"), assistant("d"), user("e?")], None, {}),
    "hard text": ([{"role": "system", "content": HARD}, user(HARD), assistant(HARD), user(HARD)], None, {}),
    "empty content": ([user(""), assistant(""), user("")], None, {}),
    "tools": ([user("weather?")], [WEATHER, TIME], {}),
    "tools and system": ([SYSTEM, user("weather?")], [WEATHER], {}),
    "call object": ([user("w"), assistant("", tool_calls=[call("get_weather", {"location": "Zürich \"x\"", "days": 2, "f": 1.0, "n": None, "b": True, "l": [1, 2.5e-9]})]), {"role": "tool", "tool_call_id": "call_1", "content": "{\"t\": 21}"}], [WEATHER], {}),
    "call string": ([user("w"), assistant("", tool_calls=[call("get_weather", "{\"location\": \"Rome\"}")]), {"role": "tool", "tool_call_id": "call_1", "content": "21"}, assistant("It is 21."), user("thanks")], [WEATHER], {}),
    "two calls": ([user("w"), assistant("Let me look.", tool_calls=[call("get_weather", {"location": "Rome"}, "abcdefghi"), call("get_time", {}, "c2")]), {"role": "tool", "tool_call_id": "abcdefghi", "content": "21"}, {"role": "tool", "tool_call_id": "c2", "content": "12:00"}, user("ok?")], [WEATHER, TIME], {}),
    "thinking": ([user("t")], None, {"enable_thinking": True}),
    "not thinking": ([user("t")], None, {"enable_thinking": False}),
    "date": ([user("t")], None, {"date_string": "01 Jan 2026"}),
    "roles out of order": ([user("a"), user("b")], None, {}),
    "unknown role": ([user("a"), {"role": "critic", "content": "x"}], None, {}),
    "parts": ([user([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}])], None, {}),
    "no generation prompt": ([user("a"), assistant("b")], None, {"add_generation_prompt": False}),
}


def main():
    module = pathlib.Path(__file__).resolve().parents[3]
    sources = {path.stem: path.read_text() for path in sorted((module / "src/test/resources/templates").glob("*.jinja"))}
    sources["tiny"] = (module.parent / "server-config/src/main/liberty/config/models/tiny/chat_template.jinja").read_text()
    cases = []
    for template, source in sources.items():
        compiled = environment().from_string(source)
        for name, (messages, tools, args) in CONVERSATIONS.items():
            values = {"messages": messages, "tools": tools, "bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": True, **args}
            case = {"template": template, "conversation": name, "values": values}
            try:
                case["text"] = compiled.render(**values)
            except jinja2.exceptions.TemplateError as e:
                case["error"] = str(e)
            except TypeError as e:
                case["error"] = str(e)
            cases.append(case)
    out = module / "src/test/resources/rendered.json"
    out.write_text(json.dumps(cases, ensure_ascii=False, indent=1) + "\n")
    failed = sum("error" in case for case in cases)
    print(f"{len(cases)} cases, {failed} of them errors, to {out}")


main()
