"""Triton's client for Python, unmodified, over gRPC and HTTP: kserve_client.py <base url> <model> <gRPC address>.

Exits 0 when everything held.
"""

import json
import queue
import sys
import time
import urllib.parse
import urllib.request

import grpc as grpc_core
import numpy
import tritonclient.grpc as over_grpc
import tritonclient.http as over_http
from tritonclient.grpc import service_pb2, service_pb2_grpc
from tritonclient.utils import InferenceServerException

base_url, model, address = sys.argv[1:4]
http_address = urllib.parse.urlsplit(base_url).netloc
PROMPT = "Once upon"
FEW = {"max_tokens": 8, "temperature": 0}
ENDLESS = {"max_tokens": 3000, "ignore_eos": True, "temperature": 0}


def inputs(kind, stream=None):
    text = kind.InferInput("text_input", [1], "BYTES")
    text.set_data_from_numpy(numpy.array([PROMPT.encode()], dtype=object))
    made = [text]
    if stream is not None:
        flag = kind.InferInput("streaming", [1], "BOOL")
        flag.set_data_from_numpy(numpy.array([stream]))
        made.append(flag)
    return made


def fails(check, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except InferenceServerException as error:
        assert check(error), error
    else:
        raise AssertionError(f"{arguments} {named} did not fail")


def status(name):
    return lambda error: error.status() == f"StatusCode.{name}"


# over gRPC
client = over_grpc.InferenceServerClient(address)
assert client.is_server_live() and client.is_server_ready() and client.is_model_ready(model)
assert not client.is_model_ready("nobody")
assert client.get_server_metadata().name == "dynamo"
metadata = client.get_model_metadata(model)
assert [tensor.name for tensor in metadata.inputs] == ["text_input", "streaming"], metadata
assert client.get_model_config(model).config.backend == "dynamo"
assert model in [entry.name for entry in client.get_model_repository_index().models]
fails(status("NOT_FOUND"), client.get_model_metadata, "nobody")

whole = client.infer(model, inputs(over_grpc), request_id="one", parameters=FEW)
assert whole.get_response().id == "one"
text = whole.as_numpy("text_output")[0]
assert text and whole.as_numpy("finish_reason")[0] in (b"stop", b"length"), whole.get_response()
wanted = [over_grpc.InferRequestedOutput("text_output")]
alone = client.infer(model, inputs(over_grpc), outputs=wanted, parameters=FEW)
assert alone.as_numpy("text_output")[0] == text and alone.as_numpy("finish_reason") is None
several = client.infer(model, inputs(over_grpc), parameters={**FEW, "temperature": 1.0, "n": 3, "seed": 7})
assert several.as_numpy("text_output").shape == (3,)

answers = queue.Queue()
client.start_stream(lambda result, error: answers.put((result, error)))
for name in ("two", "three"):
    client.async_stream_infer(
        model, inputs(over_grpc, True), request_id=name, parameters=FEW, enable_empty_final_response=True
    )
for name in ("two", "three"):
    streamed, parts = b"", 0
    while True:
        result, error = answers.get(timeout=60)
        assert error is None, error
        response = result.get_response()
        assert response.id == name, response
        if "triton_final_response" in response.parameters:
            break
        streamed += result.as_numpy("text_output")[0]
        parts += 1
    assert streamed == text and parts > 1, (streamed, text, parts)
client.async_stream_infer("nobody", inputs(over_grpc, True))
result, error = answers.get(timeout=60)
assert result is None and "nobody" in error.message(), error
client.stop_stream()

fails(status("NOT_FOUND"), client.infer, "nobody", inputs(over_grpc))
fails(status("INVALID_ARGUMENT"), client.infer, model, inputs(over_grpc, True))
fails(status("INVALID_ARGUMENT"), client.infer, model, inputs(over_grpc), parameters={"zz": 1})
fails(status("DEADLINE_EXCEEDED"), client.infer, model, inputs(over_grpc), parameters=ENDLESS, client_timeout=0.5)


def running():
    with urllib.request.urlopen(urllib.parse.urljoin(base_url, "/metrics"), timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    levels = [line for line in lines if line.startswith("dynamo_frontend_inflight_requests")]
    return sum(float(line.rsplit(" ", 1)[1]) for line in levels)


def until(what, holds):
    for _ in range(600):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError(f"{what} did not come")


# a cancelled call, and a lost connection, end their texts
cancelled = queue.Queue()
call = client.async_infer(
    model, inputs(over_grpc), lambda result, error: cancelled.put(error), parameters=ENDLESS
)
until("the request", lambda: running() >= 1)
call.cancel()
assert cancelled.get(timeout=60) is not None
until("the end of the cancelled request", lambda: running() == 0)
with grpc_core.insecure_channel(address) as channel:
    request = service_pb2.ModelInferRequest(model_name=model)
    for name, kind, value in (("text_input", "BYTES", PROMPT.encode()), ("stream", "BOOL", True)):
        tensor = request.inputs.add(name=name, datatype=kind, shape=[1])
        (tensor.contents.bytes_contents if kind == "BYTES" else tensor.contents.bool_contents).append(value)
    request.parameters["max_tokens"].int64_param = 3000
    request.parameters["ignore_eos"].bool_param = True
    parts = service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelStreamInfer(iter([request]))
    assert next(parts).infer_response.model_name == model
    assert running() == 1
until("the end of the request of the lost connection", lambda: running() == 0)
client.close()

# over HTTP, with contents as bytes behind the JSON, and in it
client = over_http.InferenceServerClient(http_address, network_timeout=60)
assert client.is_server_live() and client.is_server_ready() and client.is_model_ready(model)
assert not client.is_model_ready("nobody")
assert client.get_server_metadata()["name"] == "dynamo"
assert client.get_model_metadata(model)["outputs"][0]["name"] == "text_output"
assert client.get_model_config(model)["backend"] == "dynamo"
assert model in [entry["name"] for entry in client.get_model_repository_index()]
whole = client.infer(model, inputs(over_http), request_id="four", parameters=FEW)
assert whole.get_response()["id"] == "four"
assert whole.as_numpy("text_output")[0] == text, whole.get_response()
in_json = over_http.InferInput("text_input", [1], "BYTES")
in_json.set_data_from_numpy(numpy.array([PROMPT.encode()], dtype=object), binary_data=False)
wanted = [over_http.InferRequestedOutput("text_output", binary_data=False)]
assert client.infer(model, [in_json], outputs=wanted, parameters=FEW).as_numpy("text_output")[0] == text.decode()
fails(lambda error: "nobody" in error.message(), client.infer, "nobody", inputs(over_http))
fails(lambda error: "zz" in error.message(), client.infer, model, inputs(over_http), parameters={"zz": 1})
client.close()

# Triton's routes for texts
body = json.dumps({"text_input": PROMPT, **FEW}).encode()
for route in ("generate", "generate_stream"):
    request = urllib.request.Request(
        urllib.parse.urljoin(base_url, f"/v2/models/{model}/{route}"), body, {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    objects = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith(("data: ", "{"))]
    assert "".join(one["text_output"] for one in objects) == text.decode(), objects
