"""Embeddings by OpenAI's SDK for Python, unmodified: openai_embeddings.py <base url> <unused> <model>."""

import sys

import openai

base_url, _, model = sys.argv[1:4]
client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=60)

# the SDK asks for base64 by itself, and decodes it
one = client.embeddings.create(model=model, input=[5, 6, 7])
assert one.data[0].embedding == [3.0, 18.0, 0.0, 0.5], one
assert one.usage.prompt_tokens == one.usage.total_tokens == 3, one
plain = client.embeddings.create(model=model, input=[5, 6, 7], encoding_format="float")
assert plain.data[0].embedding == one.data[0].embedding, plain
batch = client.embeddings.create(model=model, input=["Hello", "Hello there"])
assert [item.index for item in batch.data] == [0, 1] and batch.data[0].embedding != batch.data[1].embedding, batch
short = client.embeddings.create(model=model, input=[[5], [6, 7]], dimensions=2)
assert [item.embedding for item in short.data] == [[1.0, 5.0], [2.0, 13.0]], short
for wrong in ({"input": []}, {"input": ""}, {"input": "a", "dimensions": 0}):
    try:
        client.embeddings.create(model=model, **wrong)
    except openai.BadRequestError:
        continue
    raise AssertionError(wrong)
try:
    client.embeddings.create(model="nobody", input="a")
    raise AssertionError("a model that is not there embeds")
except openai.NotFoundError:
    pass
