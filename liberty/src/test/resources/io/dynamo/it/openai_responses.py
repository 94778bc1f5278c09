"""Responses by OpenAI's SDK for Python, unmodified: openai_responses.py <base url> <model>."""

import json
import sys

import openai

base_url, model = sys.argv[1:3]
client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=60)
ask = {"model": model, "input": "What is the capital of France?", "temperature": 0, "max_output_tokens": 64}

whole = client.responses.create(**ask)
assert whole.id.startswith("resp_") and whole.status == "completed", whole
assert "Paris" in whole.output_text and whole.usage.output_tokens > 0, whole

events = list(client.responses.create(**ask, stream=True))
kinds = [event.type for event in events]
assert kinds[:2] == ["response.created", "response.in_progress"], kinds
assert kinds[-1] == "response.completed", kinds
assert [event.sequence_number for event in events] == list(range(len(events)))
assert "".join(e.delta for e in events if e.type == "response.output_text.delta") == whole.output_text
assert events[-1].response.output_text == whole.output_text

with client.responses.stream(**ask) as stream:
    for _ in stream:
        pass
    assert stream.get_final_response().output_text == whole.output_text

counted = client.responses.input_tokens.count(model=model, input=ask["input"])
assert counted.input_tokens == whole.usage.input_tokens, (counted, whole.usage)

short = client.responses.create(**{**ask, "max_output_tokens": 1})
assert (short.status, short.incomplete_details.reason) == ("incomplete", "max_output_tokens"), short

tools = [
    {
        "type": "function",
        "name": "get_weather",
        "description": "Weather of a city",
        "parameters": {"type": "object", "properties": {"location": {"type": "string"}}},
    }
]
question = [{"role": "user", "content": "What is the weather in Paris?"}]
called = client.responses.create(**{**ask, "input": question}, tools=tools)
call = called.output[-1]
assert (call.type, call.name, json.loads(call.arguments)) == ("function_call", "get_weather", {"location": "Paris"}), called
with client.responses.stream(**{**ask, "input": question}, tools=tools) as stream:
    for _ in stream:
        pass
    assert json.loads(stream.get_final_response().output[-1].arguments) == {"location": "Paris"}
answered = client.responses.create(
    **{
        **ask,
        "input": question
        + [item.model_dump(exclude_none=True) for item in called.output]
        + [{"type": "function_call_output", "call_id": call.call_id, "output": "Sunny, 21 degrees"}],
    },
    tools=tools,
)
assert answered.output, answered

thought = client.responses.create(
    **{**ask, "input": "What is 3 plus 4? Think step by step.", "max_output_tokens": 200},
    reasoning={"effort": "high", "summary": "auto"},
)
assert thought.output[0].type == "reasoning" and thought.output[0].content[0].text, thought

count = {**ask, "input": "Count to twenty.", "max_output_tokens": 800}  # an answer without an end
with client.responses.create(**count, stream=True) as left:
    next(event for event in left if event.type == "response.reasoning_text.delta" or event.type == "response.output_text.delta")


def fails(kind, check, **change):
    try:
        client.responses.create(**{**ask, **change})
    except kind as error:
        assert check(error), (kind, error)
    else:
        raise AssertionError(f"{change} did not fail")


fails(openai.NotFoundError, lambda e: e.code == "model_not_found", model="nobody")
fails(openai.BadRequestError, lambda e: e.param == "temperature", temperature=9)
fails(openai.NotFoundError, lambda e: e.code == "conversation_not_found", conversation="conv_1")
fails(openai.BadRequestError, lambda e: e.code == "previous_response_not_found", previous_response_id="resp_1")
fails(openai.BadRequestError, lambda e: e.code == "previous_response_not_found", previous_response_id=whole.id)

stored = client.responses.create(**ask, store=True)
assert stored.store and client.responses.retrieve(stored.id).model_dump() == stored.model_dump(), stored
with client.responses.stream(**{**ask, "input": "And of Italy?"}, store=True, previous_response_id=stored.id) as stream:
    for _ in stream:
        pass
    continued = stream.get_final_response()
assert continued.previous_response_id == stored.id, continued
assert continued.usage.input_tokens > stored.usage.input_tokens, (continued.usage, stored.usage)
items = list(client.responses.input_items.list(continued.id, limit=1, order="asc"))
assert [item.role for item in items] == ["user", "assistant", "user"], items
assert items[1].content[0].text == stored.output_text, items

called = client.responses.create(**{**ask, "input": question}, tools=tools, store=True)
output = {"type": "function_call_output", "call_id": called.output[-1].call_id, "output": "Sunny, 21 degrees"}
assert client.responses.create(**{**ask, "input": [output]}, tools=tools, previous_response_id=called.id).output

client.responses.delete(stored.id)
for gone in (lambda: client.responses.retrieve(stored.id), lambda: client.responses.delete(stored.id)):
    try:
        gone()
    except openai.NotFoundError:
        pass
    else:
        raise AssertionError("a deleted response is still there")
fails(openai.BadRequestError, lambda e: stored.id in e.message, previous_response_id=continued.id)

conversation = client.conversations.create(
    items=[{"type": "message", "role": "user", "content": ask["input"]}, {"type": "message", "role": "assistant", "content": "Paris."}],
    metadata={"topic": "capitals"},
)
assert conversation.id.startswith("conv_") and conversation.metadata == {"topic": "capitals"}, conversation
assert client.conversations.retrieve(conversation.id) == conversation
assert client.conversations.update(conversation.id, metadata={"topic": "x"}).metadata == {"topic": "x"}
follow = {**ask, "input": "And of Italy?", "conversation": conversation.id}
inside = client.responses.create(**follow)
assert inside.conversation.id == conversation.id and not inside.store, inside
with client.responses.stream(**{**follow, "input": "And of Spain?"}, store=True) as stream:
    for _ in stream:
        pass
    streamed = stream.get_final_response()
assert streamed.usage.input_tokens > inside.usage.input_tokens > whole.usage.input_tokens, (streamed.usage, inside.usage)
items = list(client.conversations.items.list(conversation.id, limit=2, order="asc"))
assert [item.role for item in items] == ["user", "assistant"] * 3, items
assert items[3].content[0].text == inside.output_text and items[5].content[0].text == streamed.output_text, items
added = client.conversations.items.create(conversation.id, items=[{"role": "user", "content": "Stop."}])
assert client.conversations.items.retrieve(added.data[0].id, conversation_id=conversation.id) == added.data[0]
client.responses.delete(streamed.id)
assert client.conversations.items.delete(added.data[0].id, conversation_id=conversation.id).id == conversation.id
assert len(list(client.conversations.items.list(conversation.id))) == 6
fails(openai.BadRequestError, lambda e: e.param == "conversation", conversation=conversation.id, previous_response_id=stored.id)
assert client.conversations.delete(conversation.id).deleted
fails(openai.NotFoundError, lambda e: conversation.id in e.message, conversation=conversation.id)
