"""Checks /openapi.json, as api_document.py <base url> <model>: a client generated from it works, and answers are as it describes them."""

import importlib
import json
import pathlib
import re
import subprocess
import sys
import urllib.error
import urllib.request

import jsonschema

BASE = sys.argv[1].removesuffix("/v1")
FOLDER = pathlib.Path(__file__).parent
HELLO = [{"role": "user", "content": "Hello"}]
WEATHER = {
    "max_tokens": 64,
    "messages": [{"role": "user", "content": "What is the weather in Paris?"}],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "description": "Weather of a city",
                "parameters": {"type": "object", "properties": {"location": {"type": "string"}}},
            },
        }
    ],
}


def http(path, body=None):
    request = urllib.request.Request(BASE + path, headers={"Accept": "application/json"})
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def closed(schema):
    """The same schema without room for what it does not name."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {key: closed(part) for key, part in schema.items()}
    if "properties" in strict and "additionalProperties" not in strict:
        strict["unevaluatedProperties"] = False
    return strict


document = json.loads(http("/openapi.json")[1])
components = closed(document["components"])


def without_parts(schema):
    """Of schemas that others are made of, only the whole can be closed."""
    if isinstance(schema, dict):
        for part in schema.get("allOf", []):
            part.pop("unevaluatedProperties", None)
        if "allOf" in schema:
            schema["unevaluatedProperties"] = False
        for part in schema.values():
            without_parts(part)
    elif isinstance(schema, list):
        for part in schema:
            without_parts(part)


without_parts(components)


def check(name, value):
    schema = {"$ref": "#/components/schemas/" + name, "components": components}
    problems = [f"{p.json_path}: {p.message[:200]}" for p in jsonschema.Draft202012Validator(schema).iter_errors(value)]
    assert not problems, f"an answer is not as {name} describes it: {problems}"


def answered(name, path, body=None, status=200):
    got, text = http(path, body)
    assert got == status, f"{path} was answered {got}: {text[:300]}"
    value = json.loads(text)
    check(name, value)
    return value


def streamed(name, path, body):
    got, text = http(path, {**body, "stream": True, "stream_options": {"include_usage": True}})
    assert got == 200, text[:300]
    chunks = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
    assert chunks, "a stream without items"
    for chunk in chunks:
        check(name, chunk)


# Operations are known by their ids, and every path that answers is described.
ids = [operation["operationId"] for path in document["paths"].values() for key, operation in path.items() if key in ("get", "post", "put", "delete")]
assert len(ids) == len(set(ids)), "operation ids are not unique"

model = sys.argv[2]
assert model in [listed["id"] for listed in answered("ModelList", "/v1/models")["data"]]
answered("Model", "/v1/models/" + model)
answered("ModelReadiness", f"/v1/models/{model}/ready")
answered("Live", "/live")
answered("Error", "/v1/models/nothing", status=404)
answered("Error", "/v1/chat/completions", {"model": "nothing", "messages": HELLO}, status=404)
answered("Error", "/v1/chat/completions", {"model": model, "messages": HELLO, "n": 0}, status=400)
chat = {"model": model, "messages": HELLO, "max_tokens": 6, "seed": 1}
for more in (
    {},
    {"n": 2},
    {"logprobs": True, "top_logprobs": 2},
    {"stop": [" "]},
    WEATHER,
    {"nvext": {"extra_fields": ["worker_id", "timing"]}},
    {"reasoning_effort": "low", "max_tokens": 64},
):
    answered("ChatCompletion", "/v1/chat/completions", {**chat, **more})
    streamed("ChatCompletionChunk", "/v1/chat/completions", {**chat, **more})
called = answered("ChatCompletion", "/v1/chat/completions", {**chat, **WEATHER})
assert called["choices"][0]["message"]["tool_calls"], "the answers with calls were not among those that are checked"
completion = {"model": model, "prompt": "Hello", "max_tokens": 6}
for more in ({}, {"logprobs": 2}, {"echo": True}, {"n": 2}):
    answered("Completion", "/v1/completions", {**completion, **more})
    streamed("Completion", "/v1/completions", {**completion, **more})

# A client made from the document.
line = {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"model": model, "messages": HELLO}}
FORM = "--b\r\nContent-Disposition: form-data; name=\"{}\"\r\n\r\n{}\r\n"
form = FORM.format("purpose", "batch") + FORM.format('file"; filename="a.jsonl', json.dumps(line)) + "--b--"
upload = urllib.request.Request(
    BASE + "/v1/files", data=form.encode(), headers={"Content-Type": "multipart/form-data; boundary=b"}
)
with urllib.request.urlopen(upload, timeout=60) as answer:
    file = json.load(answer)
check("File", file)
status, text = http(
    "/v1/batches", {"input_file_id": file["id"], "endpoint": "/v1/chat/completions", "completion_window": "24h"}
)
assert status == 200, text
check("Batch", json.loads(text))
check("FileList", json.loads(http("/v1/files")[1]))
check("BatchList", json.loads(http("/v1/batches")[1]))
conversation = json.loads(http("/v1/conversations", {"items": HELLO})[1])
check("Conversation", conversation)
place = "/v1/conversations/" + conversation["id"]
page = json.loads(http(place + "/items")[1])
check("ResponseItemList", page)
answered("ConversationItem", f"{place}/items/{page['last_id']}")
check("Conversation", json.loads(http(place, {"metadata": {"a": "b"}})[1]))

(FOLDER / "openapi.json").write_text(json.dumps(document))
# a media type that the generator does not know: its answers are files
(FOLDER / "client.yaml").write_text("content_type_overrides: {multipart/x-mixed-replace: application/octet-stream}")
made = subprocess.run(
    [sys.executable, "-m", "openapi_python_client", "generate", "--path", "openapi.json", "--config", "client.yaml", "--output-path", "generated_client", "--meta", "none"],
    cwd=FOLDER,
    capture_output=True,
    text=True,
    timeout=120,
)
assert made.returncode == 0, made.stdout + made.stderr
unable = re.findall(r"(?:WARNING|ERROR) parsing .*", made.stdout + made.stderr)
assert not unable, unable
sys.path.insert(0, str(FOLDER))
client = importlib.import_module("generated_client").Client(base_url=BASE, timeout=60)
models = importlib.import_module("generated_client.models")


def operation(tag, name):
    return importlib.import_module(f"generated_client.api.{tag}.{name}")


listed = operation("models", "list_models").sync(client=client)
assert model in [it.id for it in listed.data]
body = models.ChatCompletionRequest.from_dict(chat)
answer = operation("inference", "create_chat_completion").sync(client=client, body=body)
assert answer.choices[0].message.content, answer
assert answer.usage.completion_tokens > 0
text = operation("inference", "create_completion").sync(
    client=client, body=models.CompletionRequest.from_dict(completion)
)
assert text.choices[0].text, text
refused = operation("inference", "create_chat_completion").sync_detailed(
    client=client, body=models.ChatCompletionRequest.from_dict({**chat, "model": "nothing"})
)
assert refused.status_code == 404 and isinstance(refused.parsed, models.Error), refused
print("ok")
