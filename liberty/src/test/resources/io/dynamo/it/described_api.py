"""A server beside its /openapi.json: answers are as strict readings of their schemas want them, and a client generated from the document gives them back whole."""

import datetime
import importlib
import json
import pathlib
import re
import subprocess
import sys
import urllib.error
import urllib.request

import jsonschema

METHODS = ("get", "post", "put", "delete", "patch")
# media types that the generator does not know: such answers are files
BYTES = ("multipart/x-mixed-replace", "audio/wav", "audio/mpeg", "audio/ogg", "audio/aac", "audio/flac", "audio/pcm")


def closed(schema):
    """The same schema without room for what it does not name."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {key: closed(part) for key, part in schema.items()}
    if isinstance(strict.get("properties"), dict) and "type" in strict and "additionalProperties" not in strict:
        strict["unevaluatedProperties"] = False
    return strict


def normal(content_type):
    return (content_type or "").split(";")[0].strip().lower()


def plain(value):
    """What the generated client parsed, or JSON, such that both compare: an instant may be written in several ways."""
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    if isinstance(value, list):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value):
        return datetime.datetime.fromisoformat(re.sub(r"\.\d+", "", value).replace("Z", "+00:00"))
    return value


class Operation:
    def __init__(self, path, method, described):
        self.path, self.method, self.described = path, method, described
        self.name = described["operationId"]
        snake = re.sub("([A-Z])", r"_\1", self.name).lower()
        self.module = f"generated_client.api.{described['tags'][0].lower()}.{snake}"

    def schema(self, status, content_type):
        """The schema of an answer; None where none has a body. A status must be named."""
        answers = self.described["responses"]
        assert str(status) in answers, f"{self.name}: an answer {status} is not described"
        contents = answers[str(status)].get("content")
        if contents is None:
            return None
        assert content_type in contents, f"{self.name}: {status} as {content_type} is not described"
        return contents[content_type]["schema"]


class DescribedApi:
    def __init__(self, base):
        self.base = base.removesuffix("/v1")
        with urllib.request.urlopen(self.base + "/openapi.json", timeout=60) as answer:
            self.document = json.load(answer)
        self.components = closed(self.document["components"])
        self.operations = {}
        for path, operations in self.document["paths"].items():
            for method, described in operations.items():
                assert method in METHODS, f"{method} {path}"
                operation = Operation(path, method, described)
                assert operation.name not in self.operations, f"two operations are named {operation.name}"
                self.operations[operation.name] = operation
        self.called = set()
        self.validators = {}
        self.generate()

    def generate(self):
        folder = pathlib.Path(__file__).parent
        (folder / "openapi.json").write_text(json.dumps(self.document))
        overrides = ", ".join(f"{name}: application/octet-stream" for name in BYTES)
        (folder / "client.yaml").write_text(f"content_type_overrides: {{{overrides}}}\npost_hooks: []\n")
        command = "generate --path openapi.json --config client.yaml --output-path generated_client --meta none"
        made = subprocess.run(
            [sys.executable, "-m", "openapi_python_client", *command.split()],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
        )
        output = made.stdout + made.stderr
        assert made.returncode == 0, output
        assert not re.search("WARNING|ERROR|Warning", output), f"the generator left something out: {output}"
        self.models = importlib.import_module("generated_client.models")
        self.types = importlib.import_module("generated_client.types")
        self.plain_client = self.client({})

    def client(self, headers):
        module = importlib.import_module("generated_client")
        return module.Client(base_url=self.base, timeout=60, headers=headers, raise_on_unexpected_status=True)

    def check(self, what, schema, value):
        key = json.dumps(schema)
        if key not in self.validators:
            whole = {**closed(schema), "components": self.components}
            self.validators[key] = jsonschema.Draft202012Validator(whole)
        problems = [f"{p.json_path}: {p.message[:300]}" for p in self.validators[key].iter_errors(value)]
        assert not problems, f"{what} is not as described: {problems}"

    def call(self, name, status=200, headers={}, **arguments):
        """Calls an operation by the generated client; returns what it parsed."""
        operation = self.operations[name]
        module = importlib.import_module(operation.module)
        if headers:
            with self.client(headers) as client:
                answer = module.sync_detailed(client=client, **arguments)
        else:
            answer = module.sync_detailed(client=self.plain_client, **arguments)
        what = f"the answer {int(answer.status_code)} of {name}"
        assert answer.status_code == status, f"{what}: {answer.content[:300]}"
        self.called.add(name)
        content_type = normal(answer.headers.get("content-type"))
        schema = operation.schema(status, content_type)
        if schema is None:
            assert not answer.content, f"{what} has a body: {answer.content[:300]}"
        elif content_type == "application/json":
            value = json.loads(answer.content)
            self.check(what, schema, value)
            assert plain(answer.parsed) == plain(value), f"{what} was parsed as {answer.parsed}, and is {value}"
        elif content_type.startswith("text/"):
            assert answer.parsed == answer.content.decode(), what
            if content_type == "text/event-stream":
                self.check_events(what, schema, answer.parsed)
        else:
            assert answer.parsed.payload.getvalue() == answer.content, what
        return answer.parsed

    def check_events(self, what, schema, text):
        events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
        assert events, f"{what} has no events: {text[:300]}"
        for event in events:
            self.check(what, schema["contentSchema"], event)
        return events

    def send(self, name, body):
        """Asks without the generated client, which takes one of several media types; returns the schema, the type and the text."""
        operation = self.operations[name]
        request = urllib.request.Request(
            self.base + operation.path,
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
            method=operation.method.upper(),
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            content_type = normal(answer.headers["content-type"])
            return operation.schema(answer.status, content_type), content_type, answer.read()

    def send_json(self, name, body):
        """Asks where the generated client expects another media type."""
        schema, content_type, text = self.send(name, body)
        assert content_type == "application/json", f"{name} was answered with {content_type}"
        self.check(f"the answer of {name}", schema, json.loads(text))

    def stream(self, name, body):
        """Asks for a stream; returns its events."""
        schema, content_type, text = self.send(name, body)
        assert content_type == "text/event-stream", f"{name} was answered with {content_type}"
        return self.check_events(f"an event of {name}", schema, text.decode())

    def check_methods(self):
        """Every method of a described path is described, and no other."""
        for path, operations in self.document["paths"].items():
            place = re.sub("{.*?}", "x", path.replace("{response_id}", "resp_" + 32 * "0"))
            request = urllib.request.Request(self.base + place, method="OPTIONS")
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    allowed = answer.headers["Allow"]
            except urllib.error.HTTPError as refused:
                allowed = refused.headers["Allow"]
            assert allowed, f"{path} has no methods"
            served = {method.strip().lower() for method in allowed.split(",")} - {"head", "options"}
            assert served == set(operations), f"{path} has {served} and describes {set(operations)}"

    def check_all_called(self):
        left_out = set(self.operations) - self.called
        assert not left_out, f"operations of the document that nothing called: {sorted(left_out)}"
