"""A realtime session by OpenAI's SDK for Python, unmodified: openai_realtime.py <base url> <unused>."""

import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1], api_key="none", max_retries=0, timeout=60)

with client.realtime.connect(model="talker") as session:
    assert session.recv().type == "session.created"
    session.response.create()
    early = session.recv()
    assert early.type == "error" and early.error.code == "invalid_request", early
    session.session.update(session={"type": "realtime", "model": "nobody"})
    unknown = session.recv()
    assert unknown.type == "error" and unknown.error.code == "model_not_found", unknown
    session.session.update(session={"type": "realtime", "instructions": "Be short."})  # the model is in the address
    updated = session.recv()
    assert updated.type == "session.updated" and updated.session.instructions == "Be short.", updated
    session.conversation.item.create(item={"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]})
    assert session.recv().type == "conversation.item.added"
    session.response.create()
    parts = []
    for event in session:
        if event.type == "response.output_text.delta":
            parts.append(event.delta)
        if event.type == "response.done":
            break
    assert parts == ["part0", "part1"], parts
