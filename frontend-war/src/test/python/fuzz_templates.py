"""Makes random templates from a grammar, renders them with the environment that `transformers` compiles chat templates in, and writes
src/test/resources/fuzzed.json: for each template its text, or that it fails. Needs `transformers` and jinja2 3.1; run it from the module's
folder, with a seed and a count to look further than what is committed."""

import json
import pathlib
import random
import sys

from transformers.utils import chat_template_utils

VALUES = {
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": " Hi, what's up? "}, {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1, "b": [True, None]}}}]},
                 {"role": "tool", "content": "<think>x</think>\n42"}, {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "image"}]}],
    "text": "The quick Brown-fox\tjumps\nover (the) lazy dog", "empty": "", "word": "naïve", "emoji": "a🙂b", "digits": "042", "n": 7, "zero": 0, "neg": -3, "f": 2.5, "yes": True, "no": False, "nil": None,
    "nums": [3, 1, 2, 3], "strs": ["b", "A", "c", "a"], "mixed": [1, "x", None, 2.0, True], "nested": [[1, 2], [3]], "map": {"k": "v", "n": 1, "z": [1, 2], "a": {"b": "deep"}}, "none_left": [],
}
NAMES = [name for name in VALUES if name != "messages"]


class Grammar:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def pick(self, *choices):
        return self.r.choice(choices)

    def string(self, depth):
        if depth <= 0:
            return self.pick("text", "empty", "word", "emoji", "digits", "'a-b-c'", "' pad '", "'it\\'s \"q\"'", "'x\\ny'", "'Straße'", "'a,b,,c'", "messages[0].content", "messages[1].content", "map.k", "map['a'].b", "messages[3]['content']")
        s, d = self.string, depth - 1
        return self.pick(
            lambda: f"{s(d)} + {s(d)}", lambda: f"({s(d)} ~ {self.any(d)})", lambda: f"({s(d)})[{self.slice()}]", lambda: f"{s(0)}.{self.pick('upper', 'lower', 'strip', 'lstrip', 'rstrip', 'title', 'capitalize', 'swapcase')}()",
            lambda: f"{s(0)}.strip({self.pick(chr(39) + ' T' + chr(39), s(0))})", lambda: f"{s(0)}.replace({s(0)}, {s(0)})", lambda: f"{s(0)}.split({s(0)})[{self.pick('0', '-1')}]", lambda: f"({self.list(d)} | map('string') | join({self.pick(chr(39) + '-' + chr(39), s(0))}))",
            lambda: f"({s(d)} | {self.pick('trim', 'upper', 'lower', 'title', 'capitalize', 'length | string', 'reverse', 'first', 'last', 'indent(2)', 'indent(3, true)', 'wordcount', 'center(20)', 'truncate(12)', 'truncate(9, true)', 'string', 'tojson', 'list | join')})",
            lambda: f"({self.any(d)} | tojson{self.pick('', '(indent=2)', '(sort_keys=true)', '(ensure_ascii=true)', '(separators=(chr, chr))'.replace('chr', repr('|')))})", lambda: f"({self.any(d)} | string)", lambda: f"({self.any(d)} | default({s(0)}{self.pick('', ', true')}))",
            lambda: f"({s(d)} if {self.bool(d)} else {s(d)})", lambda: f"({s(0)} * {self.pick('2', '0', '-1', 'n')})", lambda: f"('{self.pick('%s', '%5s|', '%-5s|', '%r', '%.2s')}' % {s(0)})", lambda: f"'{self.pick('{}', '{:>8}', '{:*^9}', '{0}{0}', '{!r}')}'.format({s(0)})",
            lambda: f"{s(0)}.{self.pick('removeprefix', 'removesuffix')}({s(0)})", lambda: f"{s(0)}.{self.pick('ljust', 'rjust', 'center', 'zfill')}({self.pick('8', '3', '0')})", lambda: f"{s(0)}.partition({s(0)})[{self.pick('0', '1', '2')}]", lambda: f"{s(0)}.join({self.pick('strs', 'word', 'none_left')})")()

    def number(self, depth):
        if depth <= 0:
            return self.pick("n", "zero", "neg", "f", "1", "2", "10", "0.5", "1e3", "map.n", "nums[0]", "yes", "-1", "3.0")
        d = depth - 1
        return self.pick(lambda: f"({self.number(d)} {self.pick('+', '-', '*', '/', '//', '%')} {self.number(d)})", lambda: f"({self.pick('2', 'n', 'f')} ** {self.pick('2', '0', '-1', '3')})", lambda: f"-{self.number(0)}", lambda: f"({self.list(d)} | length)", lambda: f"({self.string(d)} | length)",
                         lambda: f"({self.number(d)} | {self.pick('int', 'float', 'abs', 'round', 'round(1)', 'string | int', 'string | float')})", lambda: f"(nums | {self.pick('sum', 'min', 'max', 'first', 'last', 'length')})", lambda: f"{self.string(0)}.{self.pick('find', 'count', 'rfind')}({self.string(0)})",
                         lambda: f"({self.string(0)} | int{self.pick('', '(5)')})", lambda: f"nums.index({self.pick('1', '3', '9')})", lambda: f"nums.count(3)")()

    def bool(self, depth):
        if depth <= 0:
            return self.pick("yes", "no", "true", "false", "nil", "missing", "empty", "nums", "none_left", "text", "zero")
        d = depth - 1
        test = self.pick("defined", "undefined", "none", "string", "number", "integer", "float", "boolean", "mapping", "iterable", "sequence", "true", "false", "sameas none", "sameas true", "eq 1", "in nums", "in text", "lower", "upper", "odd", "even", "divisibleby 2", "ne 'x'", "in ['user', 'x']")
        return self.pick(lambda: f"({self.any(d)} is {self.pick('', 'not ')}{test})", lambda: f"({self.bool(d)} {self.pick('and', 'or')} {self.bool(d)})", lambda: f"(not {self.bool(d)})", lambda: f"({self.number(d)} {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.number(d)})",
                         lambda: f"({self.string(d)} {self.pick('in', 'not in', '==', '<')} {self.string(d)})", lambda: f"({self.any(d)} {self.pick('==', '!=')} {self.any(d)})", lambda: f"({self.any(0)} {self.pick('in', 'not in')} {self.list(d)})", lambda: f"{self.string(0)}.{self.pick('startswith', 'endswith')}({self.string(0)})",
                         lambda: f"{self.string(0)}.{self.pick('isdigit', 'isalpha', 'isspace', 'isupper', 'islower', 'isalnum')}()", lambda: f"({self.number(0)} < {self.number(0)} <= {self.number(0)})")()

    def list(self, depth):
        if depth <= 0:
            return self.pick("nums", "strs", "mixed", "none_left", "nested", "[1, 'a']", "(1, 2)", "[]", "range(4) | list", "map.z", "messages[4].content")
        l, d = self.list, depth - 1
        return self.pick(lambda: f"({l(d)})[{self.slice()}]", lambda: f"{l(0)} + {l(0)}", lambda: f"({self.pick('nums', 'strs')} | {self.pick('sort', 'sort(reverse=true)', 'unique | list', 'reverse | list', 'list', 'batch(2) | list', 'slice(3) | list', 'batch(3, 0) | list')})", lambda: f"({self.string(d)}).split({self.pick('', self.string(0))})",
                         lambda: f"(messages | map(attribute='role') | {self.pick('list', 'unique | list', 'sort')})", lambda: f"(messages | {self.pick('selectattr', 'rejectattr')}('{self.pick('role', 'content', 'tool_calls', 'nope')}'{self.pick('', ', ' + repr('defined'), ', ' + repr('string'), ', ' + repr('==') + ', ' + repr('user'), ', ' + repr('in') + ', ' + repr(['user', 'tool']))}) | map(attribute='role') | list)",
                         lambda: f"({l(d)} | {self.pick('select', 'reject')}('{self.pick('string', 'number', 'none', 'defined')}') | list)", lambda: f"[{self.any(d)}, {self.any(0)}]", lambda: f"({self.any(0)}, {self.any(d)})", lambda: f"map.{self.pick('keys', 'values', 'items')}() | list", lambda: f"(map | {self.pick('dictsort', 'items | list', 'list')})", lambda: f"{self.string(0)}.splitlines()")()

    def map(self, depth):
        return self.pick("map", "map.a", "messages[0]", "messages[2].tool_calls[0].function", "{'x': 1, 'y': [2]}", "dict(q=1)", f"{{'m': {self.any(depth - 1)}}}" if depth > 0 else "{}")

    def any(self, depth):
        return self.pick(self.string, self.string, self.number, self.bool, self.list, self.map, lambda d: self.pick(*NAMES), lambda d: self.pick("missing", "map.nope", "map.get('nope')", "map.get('n', 2)", "nums[9]", "messages[2].content", "messages[-1].role", "none"))(depth)

    def slice(self):
        part = lambda: self.pick("", "0", "1", "-1", "2", "-2", "5")
        return self.pick(f"{part()}:{part()}", f"{part()}:{part()}:{self.pick('', '2', '-1', '-2')}")

    def block(self, depth):
        dash = lambda: self.pick("", "", "-", "+")
        end = lambda: self.pick("", "", "-")
        space = lambda: self.pick("", " ", "\n", "\n  ", "  \n", "t", "\n\n")
        tag = lambda inside: "{%" + dash() + " " + inside + " " + end() + "%}"
        output = lambda: "{{" + self.pick("", "-") + " " + self.any(2) + " " + end() + "}}"
        if depth <= 0:
            return space() + output() + space()
        b, d = self.block, depth - 1
        return space() + self.pick(
            lambda: tag(f"if {self.bool(2)}") + b(d) + self.pick("", tag(f"elif {self.bool(1)}") + b(d)) + self.pick("", tag("else") + b(d)) + tag("endif"),
            lambda: tag(f"for x in {self.list(1)}" + self.pick("", " if x", " if x is string", " if x is number")) + "{{ x }}{{ loop." + self.pick("index", "index0", "first", "last", "length", "revindex", "revindex0", "previtem", "nextitem | default('-')", "depth") + " }}" + self.pick("", tag("if loop.index == 2") + tag(self.pick("break", "continue")) + tag("endif")) + b(d) + self.pick("", tag("else") + b(0)) + tag("endfor"),
            lambda: tag(f"for k, v in {self.map(0)}.items()") + "{{ k }}={{ v }}" + b(0) + tag("endfor"),
            lambda: tag(f"set y = {self.any(2)}") + b(d) + "{{ y }}",
            lambda: tag("set y") + b(d) + tag("endset") + "[{{ y }}]",
            lambda: tag("set ns = namespace(c=0, s='')") + tag(f"for x in {self.list(1)}") + tag("set ns.c = ns.c + 1") + tag("set ns.s = ns.s ~ x") + tag("endfor") + "{{ ns.c }}{{ ns.s }}",
            lambda: tag("macro m(a, b='d', c=none)") + "{{ a }}/{{ b }}/{{ c }}" + b(0) + tag("endmacro") + "{{ m(" + self.pick("", self.any(1), f"{self.any(0)}, {self.any(0)}", f"b={self.any(0)}", f"{self.any(0)}, c={self.any(0)}") + ") }}",
            lambda: tag(f"with y = {self.any(1)}") + "{{ y }}" + b(d) + tag("endwith"),
            lambda: tag("filter " + self.pick("upper", "trim", "indent(1)", "replace('a', 'b')")) + b(d) + tag("endfilter"),
            lambda: tag("raw") + "{{ x }}{% y %}" + tag("endraw") + b(d),
            lambda: "{#" + self.pick("", "-") + " note " + self.pick("", "-") + "#}" + b(d),
            lambda: tag("generation") + b(d) + tag("endgeneration"),
            lambda: b(d) + b(d))() + space()


def main():
    seed, count = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (1, 1500)
    grammar = Grammar(seed)
    cases = []
    while len(cases) < count:
        source = grammar.block(grammar.r.randint(0, 2))
        try:
            template = chat_template_utils._compile_jinja_template(source)
            text = template.render(**VALUES)
        except Exception:
            text = None
        if (text is None and grammar.r.random() < 0.5) or (text is not None and (len(text) > 400 or " at 0x" in text or "dict_" in text)):
            continue
        cases.append([source, text])
    out = pathlib.Path(__file__).resolve().parents[1] / "resources/fuzzed.json"
    out.write_text('{"values": ' + json.dumps(VALUES, ensure_ascii=False) + ',\n"cases": [\n' + ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases) + "\n]}\n")
    print(f"{len(cases)} templates, {sum(text is None for _, text in cases)} of them errors, to {out}")


main()
