"""A worker on Dynamo's own runtime: `count` streams numbers, `exchange` answers each request of a stream."""

import asyncio

from dynamo.runtime import DistributedRuntime, dynamo_worker


async def count(request, context):
    for number in range(request["numbers"]):
        if context.is_stopped():
            print("stopped", flush=True)
            return
        yield {"number": number}
        if request.get("pause"):
            await asyncio.sleep(request["pause"])


async def exchange(requests, context):
    heard = 0
    async for request in requests:
        heard += 1
        yield {"echo": request}
    yield {"total": heard, "stopped": context.is_stopped()}


@dynamo_worker()
async def main(runtime: DistributedRuntime):
    await asyncio.gather(
        runtime.endpoint("peer.backend.count").serve_endpoint(count),
        runtime.endpoint("peer.backend.exchange").serve_bidirectional_endpoint(exchange),
    )


asyncio.run(main())
