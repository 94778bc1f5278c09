"""Tool calls and thoughts by OpenAI's SDK for Python: openai_sdk_tools.py <base url> <model> <prompt> <tools>."""

import json
import sys

import openai

base_url, model, prompt, tools = sys.argv[1:5]
client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=60)
ask = {
    "model": model,
    "messages": [{"role": "user", "content": prompt}],
    "tools": json.loads(tools),
    "max_completion_tokens": 400,
    "extra_body": {"ignore_eos": True},
}

whole = client.chat.completions.create(**ask).choices[0]
assert whole.finish_reason == "tool_calls", whole
call = whole.message.tool_calls[0]
assert call.type == "function" and call.function.name == "get_weather", call
assert json.loads(call.function.arguments) == {"city": "Paris"}, call
assert whole.message.reasoning_content == "I must look", whole

thoughts, arguments, names, ids, finish, usage = "", "", [], [], None, None
for chunk in client.chat.completions.create(**ask, stream=True, stream_options={"include_usage": True}):
    usage = chunk.usage or usage
    for choice in chunk.choices:
        thoughts += getattr(choice.delta, "reasoning_content", None) or ""
        finish = choice.finish_reason or finish
        for part in choice.delta.tool_calls or []:
            arguments += part.function.arguments or ""
            names += [part.function.name] if part.function.name else []
            ids += [part.id] if part.id else []
assert (thoughts, finish, names, len(ids)) == ("I must look", "tool_calls", ["get_weather"], 1)
assert json.loads(arguments) == {"city": "Paris"}
assert usage.completion_tokens_details.reasoning_tokens > 0, usage
