"""NVIDIA's dynamo.nixl_connect in a process of its own, driven by lines of JSON: one in, one out."""

import asyncio
import json
import os
import sys
import types
import zlib

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print is no answer

try:
    import torch  # noqa: F401
except ImportError:
    # nixl_connect imports it to tell tensors from other memory; it needs nothing else of it.
    torch = types.ModuleType("torch")
    torch.Tensor = type("Tensor", (), {})
    sys.modules["torch"] = torch

import numpy

from dynamo import nixl_connect


def pattern(seed, size):
    """Byte i is (seed + i * 31) >> 3, its lower 8 bits."""
    return (((seed + numpy.arange(size, dtype=numpy.int64) * 31) >> 3) & 0xFF).astype(numpy.uint8)


class Peer:
    def __init__(self, name):
        self.connector = nixl_connect.Connector(name)
        self.arrays = []
        self.operation = None

    def local(self, order, fill):
        self.arrays = [
            pattern(order["seed"] + i, size) if fill else numpy.zeros(size, dtype=numpy.uint8)
            for i, size in enumerate(order["sizes"])
        ]
        descriptors = [nixl_connect.Descriptor((array, "cpu")) for array in self.arrays]
        return descriptors if len(descriptors) > 1 else descriptors[0]

    def state(self):
        return {
            "status": str(self.operation.status),
            "sums": [zlib.crc32(array.tobytes()) for array in self.arrays],
        }

    async def answer(self, order):
        match order["do"]:
            case "readable":
                self.operation = await self.connector.create_readable(self.local(order, True))
                return {"metadata": self.operation.metadata(order.get("hex", False)).model_dump_json()}
            case "writable":
                self.operation = await self.connector.create_writable(self.local(order, False))
                return {"metadata": self.operation.metadata(order.get("hex", False)).model_dump_json()}
            case "read":
                metadata = nixl_connect.RdmaMetadata.model_validate_json(order["metadata"])
                self.operation = await self.connector.begin_read(metadata, self.local(order, False))
                return {}
            case "write":
                metadata = nixl_connect.RdmaMetadata.model_validate_json(order["metadata"])
                self.operation = await self.connector.begin_write(self.local(order, True), metadata)
                return {}
            case "cancel":
                self.operation.cancel()
                return self.state()
            case "state":
                return self.state()
            case "wait":
                await asyncio.wait_for(self.operation.wait_for_completion(), order["seconds"])
                return self.state()
            case "drop":
                self.operation = None
                return {}
            case "parse":
                return {"json": nixl_connect.RdmaMetadata.model_validate_json(order["json"]).model_dump_json()}


async def main():
    peer = Peer(sys.argv[1])
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        try:
            answer = await peer.answer(json.loads(line))
        except Exception as failure:  # the other side decides what it means
            answer = {"error": f"{type(failure).__name__}: {failure}"}
        print(json.dumps(answer), file=answers, flush=True)


asyncio.run(main())
