// Tool calls and thoughts by OpenAI's SDK for Node: node openai-sdk-tools.mjs <base url> <model> <prompt> <tools>.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(process.cwd() + "/");
const { OpenAI } = require("openai");
const [baseURL, model, prompt, tools] = process.argv.slice(2);
const openai = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0, timeout: 60_000 });
const ask = {
  model,
  messages: [{ role: "user", content: prompt }],
  tools: JSON.parse(tools),
  max_completion_tokens: 400,
  ignore_eos: true,
};

const whole = (await openai.chat.completions.create(ask)).choices[0];
assert.equal(whole.finish_reason, "tool_calls");
assert.equal(whole.message.tool_calls[0].function.name, "get_weather");
assert.deepEqual(JSON.parse(whole.message.tool_calls[0].function.arguments), { city: "Paris" });
assert.equal(whole.message.reasoning_content, "I must look");

const stream = openai.chat.completions.stream({ ...ask, stream_options: { include_usage: true } });
const final = await stream.finalChatCompletion();
assert.equal(final.choices[0].finish_reason, "tool_calls");
assert.equal(final.choices[0].message.tool_calls[0].function.name, "get_weather");
assert.deepEqual(JSON.parse(final.choices[0].message.tool_calls[0].function.arguments), { city: "Paris" });
assert.ok((await stream.totalUsage()).completion_tokens > 0);
