"""Workers on Dynamo's own runtime that make images, videos and speech, and one that talks: media_workers.py <model directory>.

They take the bodies of clients' requests as they are, and print each. The prompt chooses what happens: `fail` fails,
`slow` waits for its cancellation, `frames` gives three items, `late` fails after two of them.
"""

import asyncio
import base64
import json
import sys

from dynamo.llm import ModelInput, ModelType, WorkerType, register_model
from dynamo.runtime import DistributedRuntime, dynamo_worker


def shown(kind, request):
    print(f"REQUEST {kind} {json.dumps(request)}", flush=True)


def encoded(text):
    return base64.b64encode(text.encode()).decode()


async def cancelled(kind, context):
    while not (context.is_stopped() or context.is_killed()):
        await asyncio.sleep(0.01)
    print(f"CANCELLED {kind}", flush=True)


async def paint(request, context):
    shown("image", request)
    if request["prompt"] == "fail":
        raise RuntimeError("asked to fail")
    if request["prompt"] == "slow":
        await cancelled("image", context)
        return
    yield {"created": 1, "data": [{"b64_json": encoded("image of " + request["prompt"])}], "size": "64x64"}


def job(kind, model, data, progress=100, **more):
    status = "completed" if progress == 100 else "in_progress"
    return {"id": "1", "object": kind, "model": model, "status": status, "progress": progress, "created": 5, "data": data} | more


async def film(request, context):
    shown("video", request)
    prompt = request["prompt"]
    if prompt == "fail":
        raise RuntimeError("asked to fail")
    if prompt == "slow":
        await cancelled("video", context)
        return
    for index in range(1 if prompt == "one" else 3):
        if prompt == "late" and index == 2:
            raise RuntimeError("late")
        data = [{"output_format": "jpeg", "b64_json": encoded(f"jpeg{index}")}]
        yield job("video", request["model"], data, 100 if index == 2 or prompt == "one" else 10)


async def speak(request, context):
    shown("speech", request)
    text = request["input"]
    kind = request.get("response_format", "wav")
    if text == "fail":
        raise RuntimeError("asked to fail")
    if text == "slow":
        await cancelled("speech", context)
        return
    if text == "impossible":
        yield job("audio.speech", request["model"], [], status="failed", error="no voice")
        return
    if request.get("data_source") == "url":
        yield job("audio.speech", request["model"], [{"output_format": kind, "url": f"http://example.org/a.{kind}"}])
        return
    for index in range(3):
        if text == "late" and index == 2:
            raise RuntimeError("late")
        yield job("audio.speech", request["model"], [{"output_format": kind, "b64_json": encoded(f"{text}{index}")}])


async def talk(requests, context):
    print("TALK begins", flush=True)
    async for event in requests:
        shown("event", event)
        kind = event["type"]
        if kind == "session.update":
            yield {"type": "session.updated", "event_id": "e1", "session": event["session"]}
        elif kind == "conversation.item.create":
            yield {"type": "conversation.item.added", "event_id": "e2", "item": {"id": "i1"} | event["item"]}
        elif kind == "response.create":
            for index in range(2):
                part = {"response_id": "r", "item_id": "i", "output_index": 0, "content_index": 0}
                yield {"type": "response.output_text.delta", "event_id": f"d{index}", "delta": f"part{index}"} | part
            yield {"type": "response.done", "event_id": "d9", "response": {"id": "r", "object": "realtime.response", "status": "completed", "output": []}}
        elif kind == "input_audio_buffer.clear":
            raise RuntimeError("asked to fail")
        elif kind == "response.cancel":
            return
        elif kind == "output_audio_buffer.clear":
            for index in range(event.get("count", 0)):
                yield {"type": "response.output_audio.delta", "event_id": f"a{index}", "delta": "A" * 65536}
    print(f"TALK ended stopped={context.is_stopped()}", flush=True)


@dynamo_worker()
async def main(runtime: DistributedRuntime):
    kinds = [
        (paint, ModelType.Images, "painter"),
        (film, ModelType.Videos, "filmer"),
        (speak, ModelType.Audios, "speaker"),
        (talk, ModelType.Realtime, "talker"),
    ]
    serving = []
    for handler, kind, name in kinds:
        endpoint = runtime.endpoint(f"media.{name}.generate")
        serve = endpoint.serve_bidirectional_endpoint if handler is talk else endpoint.serve_endpoint
        serving.append(asyncio.ensure_future(serve(handler)))
        await register_model(ModelInput.Text, kind, endpoint, sys.argv[1], name, worker_type=WorkerType.Aggregated)
    await asyncio.gather(*serving)


asyncio.run(main())
