"""Calls what workers of some kinds alone serve, as described_workers.py <base url> <unused> <models>; every answer is as /openapi.json has it."""

import io
import sys

from described_api import DescribedApi

api = DescribedApi(sys.argv[1])
call, models = api.call, api.models


def body(kind, **fields):
    return getattr(models, kind).from_dict(fields)


def rerank(model):
    assert len(call("rerankDocuments", body=body("RerankRequest", model=model, query="q", documents=["a", "b"]))) == 2
    call("rerankDocuments", 500, body=body("RerankRequest", model=model, query="fail", documents=["a"]))


def classify(model):
    assert call("classifyTexts", body=body("ClassifyRequest", model=model, input="a")).data[0].probs


def pool(model):
    for more in ({}, {"encoding_format": "base64"}):
        assert call("poolTexts", body=body("PoolingRequest", model=model, input="a", **more)).data[0].data
    _, content_type, numbers = api.send("poolTexts", {"model": model, "input": "a", "encoding_format": "bytes"})
    assert content_type == "application/octet-stream" and len(numbers) == 8, numbers


def text(model):
    chat = {"model": model, "messages": [{"role": "user", "content": "a"}]}
    call("createChatCompletion", body=body("ChatCompletionRequest", **chat))
    api.stream("createChatCompletion", {**chat, "stream": True})
    completion = {"model": model, "prompt": "a"}
    call("createCompletion", body=body("CompletionRequest", **completion))
    api.stream("createCompletion", {**completion, "stream": True})
    call("createResponse", 501, body=body("ResponsesRequest", model=model, input="a"))
    call("createMessage", 501, body=body("MessagesRequest", model=model, max_tokens=4, messages=chat["messages"]))
    call("workerStatus", 404)  # a frontend alone
    call("drainWorker", 404)


def paint(model):
    assert call("createImage", body=body("ImageRequest", model=model, prompt="a cat")).data[0].b64_json
    picture = api.types.File(payload=io.BytesIO(b"picture"), file_name="a.png", mime_type="image/png")
    assert call("editImage", body=models.ImageForm(image=picture, prompt="a cat", model=model)).data
    call("createImage", 500, body=body("ImageRequest", model=model, prompt="fail"))


def film(model):
    assert call("createVideo", body=body("VideoRequest", model=model, prompt="frames")).data
    assert len(api.stream("createVideo", {"model": model, "prompt": "frames", "stream": True})) == 3
    assert b"jpeg2" in call("streamVideo", body=body("VideoRequest", model=model, prompt="frames")).payload.getvalue()


def speak(model):
    assert call("createSpeech", body=body("SpeechRequest", model=model, input="a")).payload.getvalue() == b"a0a1a2"
    for kind, name in {"mp3": "mpeg", "opus": "ogg", "aac": "aac", "flac": "flac", "pcm": "pcm"}.items():
        _, content_type, _ = api.send("createSpeech", {"model": model, "input": "a", "response_format": kind})
        assert content_type == "audio/" + name, content_type
    api.send_json("createSpeech", {"model": model, "input": "a", "data_source": "url"})
    call("createSpeech", 400, body=body("SpeechRequest", model=model, input="impossible"))


def tensor(model):
    for name in ("kserveModel", "kserveConfig", "kserveModelReady"):
        call(name, model_name=model)
    for kind, data in {"INT32": [1, 2], "FP64": [0.5, 1.5], "BOOL": [True, False], "BYTES": ["a", "b"]}.items():
        given = {"name": "s" if kind == "BYTES" else kind, "datatype": kind, "shape": [2], "data": data}
        answer = call("kserveInfer", model_name=model, body=body("KserveInferRequest", inputs=[given]))
        assert answer.outputs[0].data == data, answer
    given = {"name": "a", "datatype": "INT32", "shape": [1], "data": [1]}
    failing = body("KserveInferRequest", inputs=[given], parameters={"fail": True})
    call("kserveInfer", 500, model_name=model, body=failing)


KINDS = {
    "reranker": rerank,
    "classifier": classify,
    "pooler": pool,
    "texter": text,
    "painter": paint,
    "filmer": film,
    "speaker": speak,
    "echo-tensor": tensor,
}
assert sys.argv[3:], "no models"
for model in sys.argv[3:]:
    KINDS[model](model)
print("ok")
