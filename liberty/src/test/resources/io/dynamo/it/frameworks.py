"""LangChain and OpenAI's Agents SDK for Python, unmodified: frameworks.py <base url> <model>."""

import asyncio
import sys

from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    set_tracing_disabled,
)
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from openai import AsyncOpenAI

base_url, model = sys.argv[1:3]
ASKED = "What is the capital of France?"
ANSWER = "The capital of France is Paris."


# LangChain
def chat(**more):
    options = {"max_tokens": 24, "temperature": 0, "max_retries": 0, "timeout": 60} | more
    return ChatOpenAI(base_url=base_url, api_key="none", model=model, **options)


whole = chat().invoke(ASKED)
assert ANSWER in whole.content and whole.usage_metadata["output_tokens"] > 0, whole
parts = list(chat(stream_usage=True).stream(ASKED))
assert "".join(part.content for part in parts) == whole.content, parts
assert any(part.usage_metadata for part in parts), parts
several = chat().batch([ASKED, "Count to twenty."])
assert several[0].content == whole.content != several[1].content, several
later = asyncio.run(chat().ainvoke(ASKED))
assert later.content == whole.content, later
answer = chat(use_responses_api=True).invoke(ASKED)
assert answer.text == whole.content, answer
vectors = OpenAIEmbeddings(
    base_url=base_url, api_key="none", model=model, check_embedding_ctx_length=False
).embed_documents(["Hello", "Good morning", "Hello"])
assert vectors[0] == vectors[2] != vectors[1], "equal texts, and different ones"

# OpenAI's agents, over both of its APIs
set_tracing_disabled(True)
client = AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=60)


async def agents():
    for kind in (OpenAIChatCompletionsModel, OpenAIResponsesModel):
        agent = Agent(
            name="teacher",
            model=kind(model=model, openai_client=client),
            model_settings=ModelSettings(temperature=0, max_tokens=24),
        )
        run = await Runner.run(agent, ASKED, max_turns=1)
        assert ANSWER in run.final_output, (kind, run)
        streamed = Runner.run_streamed(agent, ASKED, max_turns=1)
        events = [event.type async for event in streamed.stream_events()]
        assert streamed.final_output == run.final_output, (kind, streamed)
        assert "raw_response_event" in events and "run_item_stream_event" in events, events


asyncio.run(agents())
