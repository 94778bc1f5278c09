"""Two models on Dynamo's own runtime that print each request: `plain`, and `decoding`, whose card asks for decoded images.

Argument: model directory.
"""

import asyncio
import json
import sys

from dynamo.llm import MediaDecoder, MediaFetcher, ModelInput, ModelRuntimeConfig, ModelType, WorkerType, register_model
from dynamo.runtime import DistributedRuntime, dynamo_worker


async def generate(request, context):
    print("REQUEST " + json.dumps(request), flush=True)
    yield {"token_ids": [40]}
    yield {"token_ids": [], "finish_reason": "stop"}


async def serve(runtime, name, **media):
    endpoint = runtime.endpoint(f"media.{name}.generate")
    serving = asyncio.ensure_future(endpoint.serve_endpoint(generate))
    await register_model(
        ModelInput.Tokens,
        ModelType.Chat,
        endpoint,
        sys.argv[1],
        name,
        worker_type=WorkerType.Aggregated,
        kv_cache_block_size=16,
        runtime_config=ModelRuntimeConfig(),
        **media,
    )
    return serving


@dynamo_worker()
async def main(runtime: DistributedRuntime):
    decoder = MediaDecoder()
    decoder.enable_image({"limits": {"max_image_width": 100, "max_image_height": 100, "max_alloc": 16 * 1024 * 1024}})
    fetcher = MediaFetcher()
    fetcher.user_agent("card-agent")
    fetcher.timeout_ms(5000)
    plain = await serve(runtime, "plain")
    decoding = await serve(runtime, "decoding", media_decoder=decoder, media_fetcher=fetcher)
    await asyncio.gather(plain, decoding)


asyncio.run(main())
