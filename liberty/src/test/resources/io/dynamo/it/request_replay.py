"""NVIDIA's replay of a trace that our frontend wrote: request_replay.py <unused> <model> <file> <number of requests>."""

import json
import sys

from dynamo.replay import run_trace_replay

file, count = sys.argv[3], int(sys.argv[4])
with open(file) as lines:
    requests = [json.loads(line)["event"]["request"] for line in lines]
summary = run_trace_replay([file], trace_format="dynamo").summary
assert summary["completed_requests"] == count == len(requests), summary
assert summary["total_input_tokens"] == sum(request["input_tokens"] for request in requests), summary
assert summary["total_output_tokens"] == sum(request["output_tokens"] for request in requests), summary
