"""OpenAI's SDK for Python, unmodified: openai_sdk.py <base url> <model>. Exits 0 when everything held."""

import sys

import openai

base_url, model = sys.argv[1:3]
client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=60)
ask = {
    "model": model,
    "temperature": 0,
    "max_completion_tokens": 24,
    "messages": [{"role": "user", "content": "Hello"}],
}

assert model in [served.id for served in client.models.list()]
assert client.models.retrieve(model).id == model

unary = client.chat.completions.create(**ask)
text = unary.choices[0].message.content
assert text, unary
assert unary.usage.total_tokens == unary.usage.prompt_tokens + unary.usage.completion_tokens

streamed, usage = "", None
for chunk in client.chat.completions.create(**ask, stream=True, stream_options={"include_usage": True}):
    for choice in chunk.choices:
        streamed += choice.delta.content or ""
    usage = chunk.usage or usage
assert streamed == text, (streamed, text)
assert usage.completion_tokens == unary.usage.completion_tokens, (usage, unary.usage)

with client.chat.completions.stream(**ask) as events:
    assert events.get_final_completion().choices[0].message.content == text

likely = client.chat.completions.create(**ask, logprobs=True, top_logprobs=2).choices[0].logprobs.content
assert "".join(token.token for token in likely).startswith(text), likely  # the end of the turn is a token too
assert all(token.logprob <= 0 and len(token.top_logprobs) == 2 for token in likely)

several = client.chat.completions.create(**{**ask, "temperature": 1, "seed": 7}, n=3)
assert [choice.index for choice in several.choices] == [0, 1, 2]

completed = client.completions.create(model=model, prompt=["Once upon", "There was"], max_tokens=8, temperature=0)
assert [choice.index for choice in completed.choices] == [0, 1]
parts = client.completions.create(model=model, prompt="Once upon", max_tokens=8, temperature=0, stream=True)
assert "".join(part.choices[0].text for part in parts if part.choices) == completed.choices[0].text

endless = {**ask, "max_completion_tokens": 1000, "extra_body": {"ignore_eos": True}}
with client.chat.completions.create(**endless, stream=True) as left:
    next(iter(left))
assert client.chat.completions.create(**ask).choices[0].message.content == text


def fails(kind, check, **change):
    try:
        client.chat.completions.create(**{**ask, **change})
    except kind as error:
        assert check(error), (kind, error)
    else:
        raise AssertionError(f"{change} did not fail")


fails(openai.NotFoundError, lambda error: error.code == "model_not_found", model="no-such-model")
fails(openai.BadRequestError, lambda error: "between 0 and 2, got -7" in str(error), temperature=-7)
fails(openai.BadRequestError, lambda error: error.type == "invalid_request_error", messages=[])
fails(openai.APITimeoutError, lambda error: True, max_completion_tokens=400, timeout=0.001)
