"""A worker whose KV cache is in a store of Mooncake, and the store's publisher: what it reads it tells.

Arguments: model directory, model name, the publisher's port, a prompt as JSON. Lines of stdin:
`stored PAGE` and `removed PAGE` with an object's number behind it, or all of the page's objects; `miss` loses a message.
"""

import asyncio
import hashlib
import json
import struct
import sys
import threading
import time

import zmq
from dynamo.llm import ModelInput, ModelRuntimeConfig, ModelType, WorkerType, register_model
from dynamo.runtime import DistributedRuntime, dynamo_worker

PAGE = 16
RANKS = 2


def objects(tokens):
    """SGLang's names of the objects of each page."""
    before, pages = b"", []
    for at in range(0, len(tokens) // PAGE * PAGE, PAGE):
        before = hashlib.sha256(before + struct.pack(f"<{PAGE}I", *tokens[at : at + PAGE])).digest()
        pages.append([f"org-model_{before.hex()}_{rank}_{kind}" for rank in range(RANKS) for kind in "kv"])
    return pages


def text(value):
    data = value.encode()
    return b"\xda" + struct.pack(">H", len(data)) + data


def batch(kind, keys):
    """As Mooncake's master writes it in msgpack: [time, [event, …], rank]."""
    events = b"".join(
        b"\x85" + text("event_id") + b"\x07" + text("event_type") + text(kind) + text("object_key") + text(key)
        + text("tenant_id") + text("default") + text("medium") + text("cpu")
        for key in keys
    )
    return b"\x93\xcf" + struct.pack(">Q", int(time.time() * 1000)) + b"\xdc" + struct.pack(">H", len(keys)) + events + b"\x00"


def publish(socket, pages):
    number = 0
    for line in sys.stdin:
        kind, *rest = line.split()
        number += 1
        if kind == "miss":
            continue
        keys = pages[int(rest[0])]
        keys = keys if len(rest) == 1 else [keys[int(rest[1])]]
        socket.send_multipart([b"", struct.pack(">Q", number), batch(kind, keys)])


async def generate(request, context):
    yield {"token_ids": [5], "finish_reason": "stop"}


@dynamo_worker()
async def main(runtime: DistributedRuntime):
    model, name, port, prompt = sys.argv[1:]
    socket = zmq.Context().socket(zmq.PUB)
    socket.bind(f"tcp://127.0.0.1:{port}")
    config = ModelRuntimeConfig()
    config.set_engine_specific(
        "sglang_hicache_mooncake",
        json.dumps(
            {
                "backend": "mooncake",
                "page_size": PAGE,
                "tp_size": RANKS,
                "pp_size": 1,
                "is_mla_model": False,
                "is_eagle": False,
                "tp_lcm_size": None,
                "should_split_heads": False,
                "extra_backend_tag": None,
                "key_prefix": "org-model",
                "kv_events_endpoint": f"tcp://127.0.0.1:{port}",
            }
        ),
    )
    endpoint = runtime.endpoint("hicache.backend.generate")
    serving = asyncio.ensure_future(endpoint.serve_endpoint(generate))
    await register_model(
        ModelInput.Tokens,
        ModelType.Completions,
        endpoint,
        model,
        name,
        worker_type=WorkerType.Aggregated,
        kv_cache_block_size=PAGE,
        runtime_config=config,
    )
    threading.Thread(target=publish, args=(socket, objects(json.loads(prompt))), daemon=True).start()
    await serving


asyncio.run(main())
