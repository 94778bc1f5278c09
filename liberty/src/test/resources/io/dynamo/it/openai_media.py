"""Images and speech by OpenAI's SDK for Python, unmodified: openai_media.py <base url> <unused>."""

import base64
import io
import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1], api_key="none", max_retries=0, timeout=60)

images = client.images.generate(model="painter", prompt="a cat", size="1024x1024", n=1, extra_body={"steps": 3})
assert base64.b64decode(images.data[0].b64_json) == b"image of a cat", images
assert images.created == 1 and images.size == "64x64", images
edited = client.images.edit(model="painter", prompt="a dog", image=("cat.png", io.BytesIO(b"\x89PNG\r\n--x"), "image/png"), n=1)
assert base64.b64decode(edited.data[0].b64_json) == b"image of a dog", edited

speech = client.audio.speech.create(model="speaker", voice="alloy", input="hello", response_format="mp3")
assert speech.content == b"hello0hello1hello2", speech.content
assert speech.response.headers["content-type"] == "audio/mpeg", speech.response.headers
with client.audio.speech.with_streaming_response.create(model="speaker", voice="alloy", input="hi", response_format="pcm") as streamed:
    assert streamed.headers["content-type"] == "audio/pcm", streamed.headers
    assert b"".join(streamed.iter_bytes()) == b"hi0hi1hi2"

for attempt in (
    lambda: client.images.generate(model="nobody", prompt="a"),
    lambda: client.audio.speech.create(model="painter", voice="alloy", input="a"),
):
    try:
        attempt()
        raise AssertionError("a model that cannot do it did")
    except openai.NotFoundError:
        pass
try:
    client.audio.speech.create(model="speaker", voice="alloy", input="impossible")
    raise AssertionError("the worker's report was taken for sound")
except openai.BadRequestError as refused:
    assert refused.status_code == 400, refused
