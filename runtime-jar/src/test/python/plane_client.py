"""A client on Dynamo's own runtime: asks `ours.backend.count` once and prints each item as a line of JSON."""

import asyncio
import json
import sys

from dynamo.runtime import DistributedRuntime, dynamo_worker


@dynamo_worker()
async def main(runtime: DistributedRuntime):
    client = await runtime.endpoint("ours.backend.count").client()
    await client.wait_for_instances()
    try:
        async for item in await client.generate({"numbers": int(sys.argv[1])}, annotated=False):
            print(json.dumps(item), flush=True)
        print("end", flush=True)
    except Exception as failure:
        print("failed", failure, flush=True)
    runtime.shutdown()


asyncio.run(main())
