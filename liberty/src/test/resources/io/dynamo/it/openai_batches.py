"""Files and batches by OpenAI's SDK for Python, unmodified: openai_batches.py <base url> <model>."""

import io
import json
import sys
import time

import openai

base_url, model = sys.argv[1:3]
client = openai.OpenAI(base_url=base_url, api_key="python", max_retries=0, timeout=60)


def line(name, url="/v1/chat/completions", **body):
    return json.dumps({"custom_id": name, "method": "POST", "url": url, "body": body}) + "\n"


def chat(name, **more):
    ask = {"model": model, "messages": [{"role": "user", "content": "Hello"}], "temperature": 0, "max_tokens": 8}
    return line(name, **{**ask, **more})


def upload(text, **more):
    return client.files.create(file=("in.jsonl", io.BytesIO(text.encode())), purpose="batch", **more)


def ended(batch):
    until = time.monotonic() + 90
    while batch.status in ("validating", "in_progress", "finalizing", "cancelling"):
        assert time.monotonic() < until, batch
        time.sleep(0.1)
        batch = client.batches.retrieve(batch.id)
    return batch


def results(file_id):
    return [json.loads(text) for text in client.files.content(file_id).text.splitlines()]


text = chat("one") + chat("two", temperature=9) + chat("three") + chat("four", model="no-such-model")
source = upload(text, expires_after={"anchor": "created_at", "seconds": 3600})
assert (source.object, source.purpose, source.filename, source.bytes) == ("file", "batch", "in.jsonl", len(text)), source
assert source.expires_at - source.created_at == 3600, source
assert client.files.retrieve(source.id) == source
assert client.files.content(source.id).text == text

made = client.batches.create(
    input_file_id=source.id,
    endpoint="/v1/chat/completions",
    completion_window="24h",
    metadata={"project": "x"},
)
assert made.status == "validating" and made.metadata == {"project": "x"}, made
batch = ended(made)
assert batch.status == "completed", batch
assert (batch.request_counts.total, batch.request_counts.completed, batch.request_counts.failed) == (4, 2, 2), batch
answers = results(batch.output_file_id)
assert [answer["custom_id"] for answer in answers] == ["one", "three"], answers
direct = client.chat.completions.create(
    model=model, messages=[{"role": "user", "content": "Hello"}], temperature=0, max_tokens=8
)
for answer in answers:
    assert answer["error"] is None and answer["response"]["status_code"] == 200, answer
    assert answer["response"]["body"]["choices"][0]["message"]["content"] == direct.choices[0].message.content, answer
errors = results(batch.error_file_id)
assert [(e["custom_id"], e["response"]["status_code"]) for e in errors] == [("two", 400), ("four", 404)], errors
assert errors[1]["response"]["body"]["error"]["code"] == "model_not_found", errors

for url, body in {
    "/v1/completions": {"prompt": "Once upon", "max_tokens": 4},
    "/v1/responses": {"input": "Hello", "max_output_tokens": 4},
}.items():
    other = upload(line("a", url, model=model, **body))
    done = ended(client.batches.create(input_file_id=other.id, endpoint=url, completion_window="24h"))
    assert done.request_counts.completed == 1, (done, done.error_file_id and results(done.error_file_id))

malformed = upload(chat("one") + "no JSON\n" + chat("one"))
failed = ended(
    client.batches.create(input_file_id=malformed.id, endpoint="/v1/chat/completions", completion_window="24h")
)
assert failed.status == "failed" and failed.output_file_id is None, failed
assert [(e.code, e.line) for e in failed.errors.data] == [("invalid_json_line", 2), ("duplicate_custom_id", 3)], failed

slow = upload("".join(chat(f"s{i}", max_tokens=200) for i in range(400)))
running = client.batches.create(input_file_id=slow.id, endpoint="/v1/chat/completions", completion_window="24h")
assert client.batches.cancel(running.id).status == "cancelling"
assert ended(running).status == "cancelled"

listed = [batch.id for batch in client.batches.list(limit=2)]  # follows the pages
assert listed[:1] == [running.id] and made.id in listed and len(listed) == 5, listed
names = [file.id for file in client.files.list(limit=3, purpose="batch")]
assert names[:2] == [slow.id, malformed.id] and source.id in names, names
assert batch.output_file_id in [file.id for file in client.files.list(purpose="batch_output")]

stranger = openai.OpenAI(base_url=base_url, api_key="another", max_retries=0, timeout=60)
assert list(stranger.files.list()) == [] and list(stranger.batches.list()) == []


def fails(call, kind, part):
    try:
        call()
    except kind as e:
        assert part in str(e), e
    else:
        raise AssertionError(f"no {kind.__name__}")


fails(lambda: stranger.files.retrieve(source.id), openai.NotFoundError, "No such file")
fails(lambda: stranger.files.content(source.id), openai.NotFoundError, "No such file")
fails(lambda: stranger.files.delete(source.id), openai.NotFoundError, "No such file")
fails(lambda: stranger.batches.retrieve(made.id), openai.NotFoundError, "No batch found")
fails(lambda: stranger.batches.cancel(made.id), openai.NotFoundError, "No batch found")
fails(lambda: client.batches.cancel(made.id), openai.BadRequestError, "completed")
fails(
    lambda: stranger.batches.create(
        input_file_id=source.id, endpoint="/v1/chat/completions", completion_window="24h"
    ),
    openai.BadRequestError,
    "there is no file",
)
fails(
    lambda: client.batches.create(input_file_id=source.id, endpoint="/v1/nothing", completion_window="24h"),
    openai.BadRequestError,
    "endpoint",
)
fails(
    lambda: client.batches.create(
        input_file_id=source.id, endpoint="/v1/chat/completions", completion_window="1y"
    ),
    openai.BadRequestError,
    "completion_window",
)
fails(
    lambda: client.files.create(file=("a", b"{}"), purpose="fine-tune"), openai.BadRequestError, "purpose"
)
assert client.files.delete(source.id).deleted
fails(lambda: client.files.retrieve(source.id), openai.NotFoundError, "No such file")
