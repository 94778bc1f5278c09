"""A worker on Dynamo's own runtime that does what a file says: each request reads it anew and plays it.

Arguments: model directory, model name, file. The file is JSON: `items` are yielded as they stand, with a true
`_dynamo_annotated` as whole items of the wire; then `raise`, where it is there, is raised: `code` and `message` as an
exception with an HTTP status, or `type` and `message` as a built-in exception. Prints the tokens of each request.
"""

import asyncio
import builtins
import json
import sys

from dynamo.llm import ModelInput, ModelRuntimeConfig, ModelType, WorkerType, register_model
from dynamo.runtime import DistributedRuntime, dynamo_worker


class Refusal(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code
        self.message = message


def exception(wanted):
    if "code" in wanted:
        return Refusal(wanted["code"], wanted["message"])
    return getattr(builtins, wanted["type"])(wanted["message"])


async def generate(request, context):
    print("TOKENS " + json.dumps(request["token_ids"]), flush=True)
    with open(sys.argv[3]) as file:
        script = json.load(file)
    for item in script.get("items", []):
        yield item
    if "raise" in script:
        raise exception(script["raise"])


@dynamo_worker()
async def main(runtime: DistributedRuntime):
    model, name = sys.argv[1:3]
    config = ModelRuntimeConfig()
    config.reasoning_parser = "qwen3"
    config.tool_call_parser = "hermes"
    endpoint = runtime.endpoint("script.backend.generate")
    serving = asyncio.ensure_future(endpoint.serve_endpoint(generate))
    await register_model(
        ModelInput.Tokens,
        ModelType.Chat | ModelType.Completions,
        endpoint,
        model,
        name,
        worker_type=WorkerType.Aggregated,
        kv_cache_block_size=16,
        runtime_config=config,
    )
    await serving


asyncio.run(main())
