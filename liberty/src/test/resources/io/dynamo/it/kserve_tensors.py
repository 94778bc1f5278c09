"""Triton's client for Python, unmodified, with a model of tensors: kserve_tensors.py <base url> <a model of texts> <model> <gRPC address>.

Exits 0 when everything held.
"""

import queue
import sys
import urllib.parse

import numpy
import tritonclient.grpc as over_grpc
import tritonclient.http as over_http
from tritonclient.grpc import service_pb2, service_pb2_grpc
from tritonclient.utils import InferenceServerException

base_url, _, model, address = sys.argv[1:5]
ARRAYS = {
    "a": numpy.array([1, -2, 3], dtype=numpy.int32),
    "s": numpy.array([b"ab", b"\xff\x00", b""], dtype=object),
    "h": numpy.array([[1.5, numpy.nan]], dtype=numpy.float16),
    "d": numpy.array([[[1e300]]], dtype=numpy.float64),
    "u": numpy.array([2**64 - 1], dtype=numpy.uint64),
    "b": numpy.array([True, False]),
    "none": numpy.zeros([0, 4], dtype=numpy.float32),
}
TYPES = {"a": "INT32", "s": "BYTES", "h": "FP16", "d": "FP64", "u": "UINT64", "b": "BOOL", "none": "FP32"}


def inputs(kind, *names, **options):
    made = []
    for name in names or ARRAYS:
        tensor = kind.InferInput(name, ARRAYS[name].shape, TYPES[name])
        tensor.set_data_from_numpy(ARRAYS[name], **options)
        made.append(tensor)
    return made


def same(result, *names):
    for name in names or ARRAYS:
        given = result.as_numpy(name)
        if TYPES[name] == "BYTES":
            assert list(given) == list(ARRAYS[name]), (name, given)
        else:
            assert given.dtype == ARRAYS[name].dtype and given.shape == ARRAYS[name].shape, (name, given)
            assert given.tobytes() == ARRAYS[name].tobytes(), (name, given)


def fails(check, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except InferenceServerException as error:
        assert check(error), error
    else:
        raise AssertionError(f"{arguments} {named} did not fail")


def status(name, words=""):
    return lambda error: error.status() == f"StatusCode.{name}" and words in error.message()


client = over_grpc.InferenceServerClient(address)
assert client.is_model_ready(model)
metadata = client.get_model_metadata(model)
assert [(one.name, one.datatype, list(one.shape)) for one in metadata.inputs] == [("a", "INT32", [-1]), ("s", "BYTES", [-1])]
assert [one.name for one in client.get_model_config(model).config.output] == ["a"]
assert model in [one.name for one in client.get_model_repository_index().models]

same(client.infer(model, inputs(over_grpc), request_id="one"))
same(client.infer(model, inputs(over_grpc, "a"), outputs=[over_grpc.InferRequestedOutput("a")]), "a")
answer = client.infer(model, inputs(over_grpc, "a"), parameters={"i": 3, "t": "x", "f": True}).get_response()
assert answer.model_name == model and answer.parameters["n"].int64_param == 0, answer
fails(status("INTERNAL"), client.infer, model, inputs(over_grpc, "a"), parameters={"fail": True})
fails(status("INTERNAL"), client.infer, model, inputs(over_grpc, "a"), parameters={"twice": True})
fails(status("INTERNAL"), client.infer, model, inputs(over_grpc, "a"), parameters={"shape": True})
wrong = over_grpc.InferInput("a", [3], "INT64")
wrong.set_data_from_numpy(ARRAYS["a"].astype(numpy.int64))
fails(status("INVALID_ARGUMENT", "the model takes INT32"), client.infer, model, [wrong])
fails(status("UNIMPLEMENTED", "their workers"), client.load_model, model)
fails(status("UNIMPLEMENTED", "no memory"), client.get_system_shared_memory_status)

# a megabyte and more of it, in both directions
large = numpy.random.default_rng(7).standard_normal((512, 1024)).astype(numpy.float32)
tensor = over_grpc.InferInput("large", large.shape, "FP32")
tensor.set_data_from_numpy(large)
assert (client.infer(model, [tensor]).as_numpy("large") == large).all()

answers = queue.Queue()
client.start_stream(lambda result, error: answers.put((result, error)))
client.async_stream_infer(model, inputs(over_grpc), parameters={"twice": True}, enable_empty_final_response=True)
for n in range(2):
    result, error = answers.get(timeout=60)
    assert error is None, error
    same(result)
    assert result.get_response().parameters["n"].int64_param == n
result, error = answers.get(timeout=60)
assert error is None and "triton_final_response" in result.get_response().parameters, (result, error)
client.async_stream_infer(model, inputs(over_grpc, "a"), parameters={"fail": True})
result, error = answers.get(timeout=60)
assert result is None and error is not None
client.async_stream_infer(model, inputs(over_grpc, "a"), request_id="after")
result, error = answers.get(timeout=60)
assert error is None and result.get_response().id == "after", error
client.stop_stream()

# typed contents, as no client of Triton's sends them
import grpc  # noqa: E402

with grpc.insecure_channel(address) as channel:
    stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
    request = service_pb2.ModelInferRequest(model_name=model)
    request.inputs.add(name="a", datatype="INT32", shape=[2]).contents.int_contents.extend([5, -6])
    assert list(stub.ModelInfer(request, timeout=60).outputs[0].contents.int_contents) == [5, -6]
    request.parameters["slow"].bool_param = True
    parts = stub.ModelStreamInfer(iter([request]), timeout=60)
    assert next(parts).infer_response.outputs[0].name == "a"
    parts.cancel()

statistics = client.get_inference_statistics(model).model_stats[0]
assert statistics.inference_stats.success.count >= 6 and statistics.inference_stats.fail.count >= 4, statistics
client.close()

# over HTTP, with contents as bytes behind the JSON, and in it
client = over_http.InferenceServerClient(urllib.parse.urlsplit(base_url).netloc, network_timeout=60)
assert client.get_model_metadata(model)["inputs"][1] == {"name": "s", "datatype": "BYTES", "shape": [-1]}
same(client.infer(model, inputs(over_http), request_id="two"))
text = [over_http.InferRequestedOutput("a", binary_data=False), over_http.InferRequestedOutput("d", binary_data=False)]
same(client.infer(model, inputs(over_http, "a", "d", binary_data=False), outputs=text), "a", "d")
half = [over_http.InferRequestedOutput("h", binary_data=False)]
fails(lambda error: "no JSON" in error.message(), client.infer, model, inputs(over_http, "h"), outputs=half)
assert client.get_inference_statistics(model)["model_stats"][0]["inference_stats"]["success"]["count"] >= 8
client.close()
