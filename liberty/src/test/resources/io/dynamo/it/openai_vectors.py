"""Vectors of a real model by OpenAI's SDK for Python, unmodified: openai_vectors.py <base url> <model>."""

import math
import sys

import openai

base_url, model = sys.argv[1:3]
client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=60)


def near(one, other):
    return len(one) == len(other) and all(math.isclose(a, b, abs_tol=2e-3) for a, b in zip(one, other))


def unit(vector):
    return math.isclose(math.sqrt(sum(x * x for x in vector)), 1, abs_tol=1e-4)


# the SDK asks for base64 by itself, and decodes it
texts = ["What is the capital of France?", "Count to twenty.", "What is the capital of France?"]
batch = client.embeddings.create(model=model, input=texts)
vectors = [item.embedding for item in batch.data]
assert [item.index for item in batch.data] == [0, 1, 2], batch
assert near(vectors[0], vectors[2]) and not near(vectors[0], vectors[1]), "equal texts, and different ones"
assert all(map(unit, vectors)), "length 1"
assert batch.usage.prompt_tokens == batch.usage.total_tokens > 10, batch.usage
plain = client.embeddings.create(model=model, input=texts[1], encoding_format="float")
assert near(plain.data[0].embedding, vectors[1]), "floats are those of base64"
ids = client.embeddings.create(model=model, input=[[333, 198, 529], [220]])
assert ids.usage.prompt_tokens == 4 and len(ids.data) == 2, ids.usage
short = client.embeddings.create(model=model, input=texts[0], dimensions=8).data[0].embedding
assert len(short) == 8 and unit(short), short
cut = client.embeddings.create(model=model, input=[[333, 198, 529, 220]], extra_body={"truncate_prompt_tokens": 3})
assert cut.usage.prompt_tokens == 3 and near(cut.data[0].embedding, ids.data[0].embedding), cut.usage
for wrong in ({"input": [5000]}, {"input": "a", "dimensions": 100_000}, {"input": [220] * 5000}):
    try:
        client.embeddings.create(model=model, **wrong)
    except openai.BadRequestError:
        continue
    raise AssertionError(wrong)
