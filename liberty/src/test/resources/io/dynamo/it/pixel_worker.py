"""A model `pixels` on Dynamo's own runtime whose card asks for decoded images: it reads them over NIXL and prints their shapes and checksums.

Arguments: model directory; a folder: while `hold` is in it, requests wait before they read, and `lose` makes the process end at its next request.
"""

import asyncio
import json
import os
import sys
import types
import uuid
import zlib

try:
    import torch  # noqa: F401
except ImportError:
    # nixl_connect imports it to tell tensors from other memory; it needs nothing else of it.
    torch = types.ModuleType("torch")
    torch.Tensor = type("Tensor", (), {})
    sys.modules["torch"] = torch

import numpy

from dynamo import nixl_connect
from dynamo.llm import MediaDecoder, ModelInput, ModelRuntimeConfig, ModelType, WorkerType, register_model
from dynamo.runtime import DistributedRuntime, dynamo_worker

connector = nixl_connect.Connector("pixels-" + str(uuid.uuid4()))


async def pixels(decoded):
    place = decoded["nixl_descriptor"]
    assert place.get("mem_type", "dram").lower() == "dram", place
    remote = nixl_connect.RdmaMetadata(
        descriptors=[nixl_connect.SerializedDescriptor(device="cpu", ptr=place["addr"], size=place["size"])],
        nixl_metadata=decoded["nixl_metadata"],
        notification_key=str(uuid.uuid4()),
        operation_kind=int(nixl_connect.OperationKind.READ),
    )
    array = numpy.empty(decoded["shape"], dtype=getattr(numpy, decoded.get("dtype", "uint8").lower()))
    read = await connector.begin_read(remote, nixl_connect.Descriptor((array, "cpu")))
    await read.wait_for_completion()
    return array


async def seen(item):
    if "Decoded" not in item:
        return {"other": sorted(item)}
    decoded = item["Decoded"]
    array = await pixels(decoded)
    return {"shape": list(array.shape), "sum": zlib.crc32(array.tobytes()), "addr": decoded["nixl_descriptor"]["addr"], "metadata": decoded.get("metadata")}


async def generate(request, context):
    folder = sys.argv[2]
    if os.path.exists(os.path.join(folder, "lose")):
        os.remove(os.path.join(folder, "lose"))
        print("LOST", flush=True)
        os._exit(1)
    items = request["multi_modal_data"]["image_url"]
    print("BEGUN", flush=True)
    while os.path.exists(os.path.join(folder, "hold")):
        if context.is_stopped() or context.is_killed():
            print("STOPPED", flush=True)
            return
        await asyncio.sleep(0.05)
    print("SEEN " + json.dumps(await asyncio.gather(*[seen(item) for item in items])), flush=True)
    yield {"token_ids": [40]}
    yield {"token_ids": [], "finish_reason": "stop"}


@dynamo_worker()
async def main(runtime: DistributedRuntime):
    decoder = MediaDecoder()
    decoder.enable_image({"limits": {"max_image_width": 2000, "max_image_height": 2000}})
    endpoint = runtime.endpoint("media.pixels.generate")
    serving = asyncio.ensure_future(endpoint.serve_endpoint(generate))
    await register_model(
        ModelInput.Tokens,
        ModelType.Chat,
        endpoint,
        sys.argv[1],
        "pixels",
        worker_type=WorkerType.Aggregated,
        kv_cache_block_size=16,
        runtime_config=ModelRuntimeConfig(),
        media_decoder=decoder,
    )
    await serving


asyncio.run(main())
