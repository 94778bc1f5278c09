"""Workers on Dynamo's own runtime that rerank, classify, pool and chat: task_workers.py <model directory>.

They take the bodies of clients' requests as they are, and print each. A query `fail` fails.
"""

import asyncio
import json
import sys

from dynamo.llm import ModelInput, ModelType, WorkerType, register_model
from dynamo.runtime import DistributedRuntime, dynamo_worker

USAGE = {"prompt_tokens": 3, "total_tokens": 3, "completion_tokens": 0}


def shown(request):
    print("REQUEST " + json.dumps(request), flush=True)


async def rerank(request, context):
    shown(request)
    if request["query"] == "fail":
        raise RuntimeError("asked to fail")
    yield [{"score": 1 / (i + 1), "index": i, "document": text} for i, text in enumerate(request["documents"])]


async def classify(request, context):
    shown(request)
    data = [{"index": 0, "label": "POS", "probs": [0.25, 0.75], "num_classes": 2}]
    yield {"id": "c", "object": "list", "created": 1, "model": request["model"], "data": data, "usage": USAGE}


async def pool(request, context):
    shown(request)
    binary = request["encoding_format"] != "float"
    data = [{"index": 0, "object": "pooling", "data": "AAAAPwAAgL4=" if binary else [0.5, -0.25]}]
    yield {"id": "p", "object": "list", "created": 1, "model": request["model"], "data": data, "usage": USAGE}


async def chat(request, context):
    shown(request)
    for i, text in enumerate(["Text ", "worker"]):
        choice = {"index": 0, "finish_reason": "stop" if i else None}
        if "messages" in request:
            choice["delta"] = {"role": "assistant", "content": text}
        else:
            choice["text"] = text
        yield {
            "id": "t",
            "object": "chat.completion.chunk" if "messages" in request else "text_completion",
            "created": 1,
            "model": request["model"],
            "choices": [choice],
        }


@dynamo_worker()
async def main(runtime: DistributedRuntime):
    kinds = [
        (rerank, ModelType.Rerank, "reranker"),
        (classify, ModelType.Classify, "classifier"),
        (pool, ModelType.Pooling, "pooler"),
        (chat, ModelType.Chat | ModelType.Completions, "texter"),
    ]
    serving = []
    for handler, kind, name in kinds:
        endpoint = runtime.endpoint(f"tasks.{name}.generate")
        serving.append(asyncio.ensure_future(endpoint.serve_endpoint(handler)))
        await register_model(
            ModelInput.Text,
            kind,
            endpoint,
            sys.argv[1],
            name,
            worker_type=WorkerType.Aggregated,
            kv_cache_block_size=16,
        )
    await asyncio.gather(*serving)


asyncio.run(main())
