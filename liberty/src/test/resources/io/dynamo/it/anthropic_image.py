"""Images by Anthropic's SDK for Python, unmodified: anthropic_image.py <base url>/v1 <unused> <question> <PNG in base64> <a PNG that is too wide>."""

import sys

import anthropic

base_url, question, picture, wide = sys.argv[1].removesuffix("/v1"), *sys.argv[3:6]
client = anthropic.Anthropic(base_url=base_url, api_key="none", max_retries=0, timeout=60)


def ask(data):
    source = {"type": "base64", "media_type": "image/png", "data": data}
    content = [{"type": "image", "source": source}, {"type": "text", "text": question}]
    return {"model": "plain", "max_tokens": 4, "messages": [{"role": "user", "content": content}]}


whole = client.messages.create(**ask(picture))
assert whole.stop_reason == "end_turn" and whole.usage.input_tokens > 0, whole
with client.messages.stream(**ask(picture)) as stream:
    streamed = stream.get_final_message()
assert streamed.content[0].text == whole.content[0].text, (streamed, whole)
try:
    client.messages.create(**{**ask(wide), "model": "decoding"})
except anthropic.BadRequestError as refused:
    assert refused.body["error"]["type"] == "invalid_request_error", refused.body
else:
    raise AssertionError("an image that the model's card forbids was taken")
