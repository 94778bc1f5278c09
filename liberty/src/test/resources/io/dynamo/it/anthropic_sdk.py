"""Anthropic's SDK for Python, unmodified: anthropic_sdk.py <base url>/v1 <model>. Exits 0 when everything held."""

import sys

import anthropic

base_url, model = sys.argv[1].removesuffix("/v1"), sys.argv[2]
client = anthropic.Anthropic(base_url=base_url, api_key="none", max_retries=0, timeout=60)
ask = {
    "model": model,
    "max_tokens": 64,
    "extra_body": {"temperature": 0},
    "thinking": {"type": "disabled"},
    "messages": [{"role": "user", "content": "What is the capital of France?"}],
}

listed = client.models.list()
assert model in [served.id for served in listed.data] and not listed.has_more, listed
assert client.models.retrieve(model).display_name == model

whole = client.messages.create(**ask)
assert whole.id.startswith("msg_") and whole.role == "assistant" and whole.model == model, whole
assert [block.type for block in whole.content] == ["text"] and "Paris" in whole.content[0].text, whole
assert whole.stop_reason == "end_turn" and whole.usage.output_tokens > 0, whole
assert whole._request_id == "req_" + whole.id.removeprefix("msg_"), whole._request_id

with client.messages.stream(**ask) as stream:
    text = "".join(stream.text_stream)
    final = stream.get_final_message()
assert text == final.content[0].text == whole.content[0].text, (text, whole)
assert final.stop_reason == "end_turn" and final.usage.output_tokens == whole.usage.output_tokens, final

kinds = [event.type for event in client.messages.create(**ask, stream=True)]
assert kinds[:2] == ["message_start", "content_block_start"], kinds
assert kinds[-3:] == ["content_block_stop", "message_delta", "message_stop"], kinds

counted = client.messages.count_tokens(
    model=model, messages=ask["messages"], thinking={"type": "disabled"}
)
used = whole.usage.input_tokens + (whole.usage.cache_read_input_tokens or 0)
assert counted.input_tokens == used, (counted, whole.usage)

stopped = client.messages.create(**ask, stop_sequences=["Par"])
assert (stopped.stop_reason, stopped.stop_sequence) == ("stop_sequence", "Par"), stopped
short = client.messages.create(**{**ask, "max_tokens": 1})
assert short.stop_reason == "max_tokens" and short.usage.output_tokens == 1, short

tools = [
    {
        "name": "get_weather",
        "description": "Weather of a city",
        "input_schema": {"type": "object", "properties": {"location": {"type": "string"}}},
    }
]
weather = [{"role": "user", "content": "What is the weather in Paris?"}]
called = client.messages.create(**{**ask, "messages": weather}, tools=tools)
assert called.stop_reason == "tool_use", called
call = called.content[-1]
assert (call.type, call.name, call.input) == ("tool_use", "get_weather", {"location": "Paris"}), call
assert call.id.startswith("toolu_"), call
with client.messages.stream(**{**ask, "messages": weather}, tools=tools) as stream:
    streamed = stream.get_final_message()
assert streamed.stop_reason == "tool_use", streamed
assert streamed.content[-1].input == {"location": "Paris"}, streamed
answered = client.messages.create(
    **{
        **ask,
        "messages": weather
        + [
            {"role": "assistant", "content": called.content},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "Sunny, 21 degrees"}],
            },
        ],
    },
    tools=tools,
)
assert answered.stop_reason in ("end_turn", "max_tokens") and answered.content, answered

thought = client.messages.create(
    **{
        **ask,
        "max_tokens": 200,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "messages": [{"role": "user", "content": "What is 3 plus 4? Think step by step."}],
    }
)
assert thought.content[0].type == "thinking" and thought.content[0].thinking, thought

count = {**ask, "max_tokens": 800, "messages": [{"role": "user", "content": "Count to twenty."}]}  # an answer without an end
with client.messages.create(**count, stream=True) as left:
    next(event for event in left if event.type == "content_block_delta")


def fails(kind, check, **change):
    try:
        client.messages.create(**{**ask, **change})
    except kind as error:
        assert check(error), (kind, error)
    else:
        raise AssertionError(f"{change} did not fail")


fails(anthropic.NotFoundError, lambda e: e.body["error"]["type"] == "not_found_error", model="nobody")
fails(anthropic.BadRequestError, lambda e: "max_tokens" in str(e), max_tokens=0)
fails(anthropic.BadRequestError, lambda e: e.body["type"] == "error", messages=[])
fails(
    anthropic.BadRequestError,
    lambda e: "web_search_20250305" in str(e),
    tools=[{"type": "web_search_20250305", "name": "web_search"}],
)
