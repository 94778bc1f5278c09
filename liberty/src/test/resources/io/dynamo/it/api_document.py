"""Calls every operation of /openapi.json by a client generated from it, as api_document.py <base url> <model>; every answer is as described."""

import io
import json
import sys
import time

from described_api import DescribedApi

api = DescribedApi(sys.argv[1])
model = sys.argv[2]
call, stream, models = api.call, api.stream, api.models
HELLO = [{"role": "user", "content": "Hello"}]
PARIS = [{"role": "user", "content": "What is the weather in Paris?"}]
LOCATION = {"type": "object", "properties": {"location": {"type": "string"}}}
FUNCTION = {"name": "get_weather", "description": "Weather of a city", "parameters": LOCATION}
WEATHER = {"max_tokens": 64, "messages": PARIS, "tools": [{"type": "function", "function": FUNCTION}]}


def body(kind, **fields):
    return getattr(models, kind).from_dict(fields)


api.check_methods()

# models, health
assert model in [listed.id for listed in call("listModels").data]
assert model == call("listModels", anthropic_version="2023-06-01").data[0].id
call("retrieveModel", model=model)
call("retrieveModel", model=model, anthropic_version="2023-06-01")
call("retrieveModel", 404, model="nothing")
call("retrieveModel", 404, model="nothing", anthropic_version="2023-06-01")
assert call("retrieveModelReadiness", model=model).ready
for name in ("isLive", "health", "healthStarted", "healthReady", "healthLive", "metrics"):
    call(name)

# chat and completions
chat = {"model": model, "messages": HELLO, "max_tokens": 6, "seed": 1}
called = 0
for more in (
    {},
    {"n": 2},
    {"logprobs": True, "top_logprobs": 2},
    {"stop": [" "]},
    WEATHER,
    {"nvext": {"extra_fields": ["worker_id", "timing"]}},
    {"reasoning_effort": "low", "max_tokens": 64},
):
    answer = call("createChatCompletion", body=body("ChatCompletionRequest", **{**chat, **more}))
    called += bool(answer.choices[0].message.tool_calls)
    stream("createChatCompletion", {**chat, **more, "stream": True, "stream_options": {"include_usage": True}})
assert called, "the answers with calls were not among those that are checked"
call("createChatCompletion", 404, body=body("ChatCompletionRequest", **{**chat, "model": "nothing"}))
call("createChatCompletion", 400, body=body("ChatCompletionRequest", **{**chat, "n": 0}))
completion = {"model": model, "prompt": "Hello", "max_tokens": 6}
for more in ({}, {"logprobs": 2}, {"echo": True}, {"n": 2}):
    text = call("createCompletion", body=body("CompletionRequest", **completion, **more))
    assert text.choices[0].text, text
    stream("createCompletion", {**completion, **more, "stream": True, "stream_options": {"include_usage": True}})

# Responses, stored ones, conversations
tool = {"type": "function", **FUNCTION}
ask = {"model": model, "input": "Hello", "max_output_tokens": 8}
use = {"input": PARIS[0]["content"], "tools": [tool], "max_output_tokens": 64, "reasoning": {"effort": "low", "summary": "auto"}}
kinds = set()
for more in ({}, use, {"metadata": {"a": "b"}, "temperature": 0.5, "instructions": "Be short"}):
    call("createResponse", body=body("ResponsesRequest", **{**ask, **more}))
    for event in stream("createResponse", {**ask, **more, "stream": True}):
        kinds.add(event["type"])
        kinds.add(event.get("item", {}).get("type"))
assert {"message", "function_call", "reasoning", "response.completed", "response.incomplete"} <= kinds, kinds
call("createResponse", 400, body=body("ResponsesRequest", **{**ask, "max_output_tokens": 0}))
assert call("countResponseInputTokens", body=body("ResponsesRequest", model=model, input="Hello")).input_tokens
stored = call("createResponse", body=body("ResponsesRequest", **ask, store=True))
place = {"response_id": stored.id}
assert call("retrieveResponse", **place).id == stored.id
assert call("listResponseInputItems", **place).data
assert call("deleteResponse", **place).deleted
for name in ("retrieveResponse", "listResponseInputItems", "deleteResponse"):
    call(name, 404, **place)
conversation = call("createConversation", body=body("ConversationRequest", items=HELLO))
place = {"conversation_id": conversation.id}
call("updateConversation", **place, body=body("ConversationChange", metadata={"a": "b"}))
assert call("retrieveConversation", **place).metadata.to_dict() == {"a": "b"}
call("createConversationItems", **place, body=body("ConversationItems", items=HELLO))
call("createResponse", body=body("ResponsesRequest", **ask, conversation=conversation.id, store=True))
items = call("listConversationItems", **place, limit=10)
assert len(items.data) >= 2, items
item = {**place, "item_id": items.last_id}
assert call("retrieveConversationItem", **item).id == items.last_id
call("deleteConversationItem", **item)
call("deleteConversation", **place)
call("retrieveConversation", 404, **place)

# Messages
message = {"model": model, "messages": HELLO, "max_tokens": 8}
use = {"max_tokens": 64, "messages": PARIS, "tools": [{"name": "get_weather", "input_schema": LOCATION}]}
blocks = set()
for more in ({}, use, {"stop_sequences": [" "]}):
    answer = call("createMessage", body=body("MessagesRequest", **{**message, **more}))
    blocks.update(block.type_ for block in answer.content)
    stream("createMessage", {**message, **more, "stream": True})
assert {"thinking", "tool_use"} <= blocks, blocks
call("createMessage", 400, body=body("MessagesRequest", **{**message, "max_tokens": 0}))
call("createMessage", 404, body=body("MessagesRequest", **{**message, "model": "nothing"}))
assert call("countMessageTokens", body=body("MessagesRequest", model=model, messages=HELLO)).input_tokens

# tokens
for more in ({"prompt": "Hello", "return_token_strs": True}, {"messages": HELLO}):
    tokens = call("tokenize", body=body("TokenizeRequest", model=model, **more)).tokens
assert call("detokenize", body=body("DetokenizeRequest", model=model, tokens=tokens)).prompt
for sampling in ({"max_tokens": 4}, {"max_tokens": 4, "logprobs": 2}):
    ask = {"model": model, "token_ids": tokens, "sampling_params": sampling}
    assert call("generateTokens", body=body("VllmGenerateRequest", **ask)).choices[0].token_ids
    stream("generateTokens", {**ask, "stream": True, "stream_options": {"include_usage": True}})
for more in ({"text": "Hello"}, {"input_ids": tokens, "return_logprob": True, "top_logprobs_num": 2}):
    ask = {"model": model, "sampling_params": {"max_new_tokens": 4}, **more}
    for name in ("generateInSglangForm", "putGenerateInSglangForm"):
        assert call(name, body=body("SglangGenerateRequest", **ask)).output_ids
        stream(name, {**ask, "stream": True})

# files and batches
line = {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": chat}
upload = api.types.File(payload=io.BytesIO(json.dumps(line).encode()), file_name="a.jsonl")
file = call("createFile", body=models.FileForm(file=upload, purpose=models.FileFormPurpose("batch")))
wish = {"input_file_id": file.id, "endpoint": "/v1/chat/completions", "completion_window": "24h"}
batch = call("createBatch", body=body("BatchRequest", **wish, metadata={"a": "b"}))
until = time.monotonic() + 60
while call("retrieveBatch", batch_id=batch.id).status not in ("completed", "failed"):
    assert time.monotonic() < until, "the batch does not end"
    time.sleep(0.1)
batch = call("retrieveBatch", batch_id=batch.id)
assert batch.request_counts.completed == 1, batch
result = json.loads(call("downloadFile", file_id=batch.output_file_id).payload.getvalue())
assert result["response"]["status_code"] == 200, result
call("cancelBatch", 400, batch_id=batch.id)
call("createBatch", 400, body=body("BatchRequest", **{**wish, "input_file_id": "file-nothing"}))
assert file.id in [it.id for it in call("listFiles", limit=100).data]
assert batch.id in [it.id for it in call("listBatches", limit=100).data]
call("retrieveFile", file_id=file.id)
call("deleteFile", file_id=file.id)
call("retrieveFile", 404, file_id=file.id)

# KServe
for name in ("kserveServer", "kserveLive", "kserveReady", "kserveIndex", "kserveStatistics"):
    call(name)
for name in ("kserveModel", "kserveModelReady", "kserveConfig", "kserveModelStatistics"):
    call(name, model_name=model)
    call(name, 404, model_name="nothing")
tensor = {"name": "text_input", "datatype": "BYTES", "shape": [1], "data": ["Hello"]}
request = body("KserveInferRequest", id="a", inputs=[tensor], parameters={"max_tokens": 4})
assert call("kserveInfer", model_name=model, body=request).outputs[0].data
call("kserveInfer", 404, model_name="nothing", body=request)
request = body("KserveGenerateRequest", text_input="Hello", parameters={"max_tokens": 4})
for name in ("kserveGenerate", "kserveGenerateStream"):
    call(name, model_name=model, body=request)
    call(name, 404, model_name="nothing", body=request)

# a model that embeds, too; none here does what follows
for encoding in ("float", "base64"):
    ask = body("EmbeddingsRequest", model=model, input="Hello", encoding_format=encoding)
    assert call("createEmbeddings", body=ask).data[0].embedding
for name, ask in {
    "createEmbeddings": body("EmbeddingsRequest", model="nothing", input="Hello"),
    "rerankDocuments": body("RerankRequest", model=model, query="a", documents=["b"]),
    "classifyTexts": body("ClassifyRequest", model=model, input="a"),
    "poolTexts": body("PoolingRequest", model=model, input="a"),
    "createImage": body("ImageRequest", model=model, prompt="a cat"),
    "editImage": body("ImageRequest", model=model, prompt="a cat", input_reference="data:image/png;base64,AAAA"),
    "createVideo": body("VideoRequest", model=model, prompt="a cat"),
    "streamVideo": body("VideoRequest", model=model, prompt="a cat"),
    "createSpeech": body("SpeechRequest", model=model, input="Hello"),
}.items():
    call(name, 404, body=ask)

# the handshake of a socket
key = {"upgrade": "websocket", "sec_web_socket_version": "13", "sec_web_socket_key": "dGhlIHNhbXBsZSBub25jZQ=="}
for status, headers in {101: {"Connection": "Upgrade"}, 400: {}}.items():
    call("connectRealtime", status, headers, **key)
call("connectRealtime", 403, {"Connection": "Upgrade"}, **key, origin="http://elsewhere.example")

# administration
assert model in [it.model for it in call("listBusyThresholds").thresholds]
change = {"model": model, "active_decode_blocks_threshold": 0.9, "active_prefill_tokens_threshold": 100000}
try:
    changed = call("changeBusyThresholds", body=body("BusyThresholdChange", **change))
    assert changed.active_decode_blocks_threshold == 0.9, changed
finally:
    for name in list(change)[1:]:
        change[name] = "off"
    call("changeBusyThresholds", body=body("BusyThresholdChange", **change))
call("changeBusyThresholds", 404, body=body("BusyThresholdChange", **{**change, "model": "nothing"}))
call("changeBusyThresholds", 400, body=body("BusyThresholdChange", model=model, active_decode_blocks_threshold=2))
call("changeBusyThresholds", 422, body=body("BusyThresholdChange", model=1))
decision = call("listRouteDecisions", limit=1).decisions[0]
assert call("explainRoute", request_id=decision.request_id).chosen == decision.chosen
call("explainRoute", 404, request_id="nothing")
call("workerStatus")
call("drainWorker", 403, {"Host": "elsewhere.example"})  # as a page of another name would ask

api.check_all_called()
print("ok")
