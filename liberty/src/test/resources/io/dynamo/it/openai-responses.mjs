// Responses and conversations by OpenAI's SDK for Node, unmodified: node openai-responses.mjs <base url> <model>.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(process.cwd() + "/");
const { OpenAI } = require("openai");
const [baseURL, model] = process.argv.slice(2);
const openai = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0, timeout: 60_000 });
const ask = { model, input: "What is the capital of France?", temperature: 0, max_output_tokens: 64 };

const whole = await openai.responses.create(ask);
assert.equal(whole.status, "completed");
assert.match(whole.output_text, /Paris/);

let streamed = "";
let last;
for await (const event of await openai.responses.create({ ...ask, stream: true })) {
  if (event.type === "response.output_text.delta") streamed += event.delta;
  last = event;
}
assert.equal(last.type, "response.completed");
assert.equal(streamed, whole.output_text);
assert.equal(last.response.output_text ?? streamed, whole.output_text);
assert.equal((await openai.responses.inputTokens.count({ model, input: ask.input })).input_tokens, whole.usage.input_tokens);

const tools = [
  {
    type: "function",
    name: "get_weather",
    description: "Weather of a city",
    parameters: { type: "object", properties: { location: { type: "string" } } },
  },
];
const called = await openai.responses.create({ ...ask, input: "What is the weather in Paris?", tools });
const call = called.output.at(-1);
assert.equal(call.type, "function_call");
assert.deepEqual(JSON.parse(call.arguments), { location: "Paris" });

await assert.rejects(openai.responses.create({ ...ask, model: "nobody" }), OpenAI.NotFoundError);
await assert.rejects(openai.responses.create({ ...ask, temperature: 9 }), OpenAI.BadRequestError);
const left = await openai.responses.create({ ...ask, input: "Count to twenty.", max_output_tokens: 800, stream: true }); // has no end
for await (const event of left) if (event.type.endsWith("text.delta")) break; // cancels

const stored = await openai.responses.create({ ...ask, store: true });
assert.deepEqual((await openai.responses.retrieve(stored.id)).output, stored.output);
const continued = await openai.responses.create({ ...ask, input: "And of Italy?", previous_response_id: stored.id });
assert.ok(continued.usage.input_tokens > stored.usage.input_tokens);
await openai.responses.delete(stored.id);
await assert.rejects(openai.responses.retrieve(stored.id), OpenAI.NotFoundError);

const conversation = await openai.conversations.create({ metadata: { topic: "capitals" } });
assert.equal((await openai.conversations.retrieve(conversation.id)).metadata.topic, "capitals");
const first = await openai.responses.create({ ...ask, conversation: conversation.id });
const second = await openai.responses.create({ ...ask, input: "And of Italy?", conversation: { id: conversation.id } });
assert.equal(second.conversation.id, conversation.id);
assert.ok(second.usage.input_tokens > first.usage.input_tokens);
const items = [];
for await (const item of openai.conversations.items.list(conversation.id, { order: "asc", limit: 1 })) items.push(item);
assert.deepEqual(items.map((item) => item.role), ["user", "assistant", "user", "assistant"]);
assert.equal(items[1].content[0].text, first.output_text);
const added = await openai.conversations.items.create(conversation.id, { items: [{ type: "message", role: "user", content: "Stop." }] });
await openai.conversations.items.delete(added.data[0].id, { conversation_id: conversation.id });
await assert.rejects(openai.conversations.items.retrieve(added.data[0].id, { conversation_id: conversation.id }), OpenAI.NotFoundError);
assert.ok((await openai.conversations.delete(conversation.id)).deleted);
await assert.rejects(openai.conversations.retrieve(conversation.id), OpenAI.NotFoundError);
