"""An embedding worker on Dynamo's own runtime: embedding_worker.py <model directory> <model name>.

Each vector is the number of tokens, their sum, and zeros, cut to `dimensions`. Prints each request.
"""

import asyncio
import base64
import json
import struct
import sys

from dynamo.llm import ModelInput, ModelType, WorkerType, register_model
from dynamo.runtime import DistributedRuntime, dynamo_worker


async def generate(request, context):
    print("REQUEST " + json.dumps(request), flush=True)
    vectors = []
    for prompt in request["token_ids"]:
        vector = [float(len(prompt)), float(sum(prompt)), 0.0, 0.5][: request.get("dimensions") or 4]
        vectors.append(base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode())
    count = sum(map(len, request["token_ids"]))
    yield {"embeddings": vectors, "prompt_tokens": count, "total_tokens": count}


@dynamo_worker()
async def main(runtime: DistributedRuntime):
    model, name = sys.argv[1:3]
    endpoint = runtime.endpoint("embed.backend.generate")
    serving = asyncio.ensure_future(endpoint.serve_endpoint(generate))
    await register_model(
        ModelInput.Tokens,
        ModelType.Embedding,
        endpoint,
        model,
        name,
        worker_type=WorkerType.Aggregated,
        kv_cache_block_size=16,
    )
    await serving


asyncio.run(main())
