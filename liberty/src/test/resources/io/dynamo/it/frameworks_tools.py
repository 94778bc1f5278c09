"""Tool calls by LangChain and OpenAI's Agents SDK for Python: frameworks_tools.py <base url> <model> <prompt>.

The engine repeats its prompt, and with it the call of get_weather that the prompt holds.
"""

import asyncio
import sys

from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI

base_url, model, prompt = sys.argv[1:4]
MORE = {"ignore_eos": True}


@tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"Sunny in {city}"


chat = ChatOpenAI(
    base_url=base_url, api_key="none", model=model, max_tokens=400, max_retries=0, timeout=60, extra_body=MORE
)
called = chat.bind_tools([get_weather]).invoke(prompt)
call = called.tool_calls[0]
assert call["name"] == "get_weather" and call["args"] == {"city": "Paris"}, called
parts = list(chat.bind_tools([get_weather]).stream(prompt))
streamed = parts[0]
for part in parts[1:]:
    streamed += part
assert streamed.tool_calls[0]["args"] == {"city": "Paris"}, streamed
result = ToolMessage(get_weather.invoke(call["args"]), tool_call_id=call["id"])
after = chat.bind_tools([get_weather], tool_choice="none").invoke([HumanMessage(prompt), called, result])
assert "Sunny in Paris" in after.content and not after.tool_calls, after

set_tracing_disabled(True)
client = AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=60)
asked = []


@function_tool(name_override="get_weather")
def weather(city: str) -> str:
    """The weather in a city."""
    asked.append(city)
    return f"Sunny in {city}"


async def agents():
    agent = Agent(
        name="weather",
        tools=[weather],
        tool_use_behavior="stop_on_first_tool",
        model=OpenAIChatCompletionsModel(model=model, openai_client=client),
        model_settings=ModelSettings(max_tokens=400, extra_body=MORE),
    )
    run = await Runner.run(agent, prompt, max_turns=2)
    assert run.final_output == "Sunny in Paris", run
    streamed = Runner.run_streamed(agent, prompt, max_turns=2)
    events = [event.type async for event in streamed.stream_events()]
    assert streamed.final_output == "Sunny in Paris", streamed
    assert "raw_response_event" in events and "run_item_stream_event" in events, events
    assert asked == ["Paris", "Paris"], asked


asyncio.run(agents())
