"""A worker on Dynamo's own runtime that takes tensors: tensor_worker.py.

It gives back the tensors that it gets, and prints each request. Parameters change the answer: `fail` fails, `twice` has
two items, `shape` lies about the first tensor's shape, `slow` has an item every 0.2 s until its client leaves.
"""

import asyncio
import json

from dynamo.llm import ModelInput, ModelType, WorkerType, register_model
from dynamo.runtime import DistributedRuntime, dynamo_worker

MODEL = "echo-tensor"
CONFIG = {
    "name": MODEL,
    "inputs": [{"name": "a", "data_type": "Int32", "shape": [-1]}, {"name": "s", "data_type": "Bytes", "shape": [-1]}],
    "outputs": [{"name": "a", "data_type": "Int32", "shape": [-1]}],
}


async def echo(request, context):
    wishes = request.get("parameters") or {}
    print("REQUEST " + json.dumps({**request, "tensors": [tensor["metadata"] for tensor in request["tensors"]]}), flush=True)
    if "fail" in wishes:
        raise RuntimeError("asked to fail")
    if "shape" in wishes:
        request["tensors"][0]["metadata"]["shape"] = [7]
    for i in range(1000 if "slow" in wishes else 2 if "twice" in wishes else 1):
        if context.is_stopped():
            print("STOPPED", flush=True)
            return
        answer = {"id": request.get("id"), "model": request["model"], "tensors": request["tensors"]}
        yield {**answer, "parameters": {"n": {"int64": i}}}
        if "slow" in wishes:
            await asyncio.sleep(0.2)


@dynamo_worker()
async def main(runtime: DistributedRuntime):
    endpoint = runtime.endpoint("tensors.backend.generate")
    serving = asyncio.ensure_future(endpoint.serve_endpoint(echo))
    await register_model(
        ModelInput.Tensor,
        ModelType.TensorBased,
        endpoint,
        MODEL,
        MODEL,
        worker_type=WorkerType.Aggregated,
        tensor_model_config=CONFIG,
    )
    await serving


asyncio.run(main())
