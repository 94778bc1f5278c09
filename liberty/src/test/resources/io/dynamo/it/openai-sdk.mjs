// OpenAI's SDK for Node, unmodified: node openai-sdk.mjs <base url> <model>. Exits 0 when everything held.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(process.cwd() + "/");
const { OpenAI } = require("openai");
const [baseURL, model] = process.argv.slice(2);
const openai = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0, timeout: 60_000 });
const ask = { model, temperature: 0, max_completion_tokens: 24, messages: [{ role: "user", content: "Hello" }] };

const ids = [];
for await (const served of openai.models.list()) ids.push(served.id);
assert.ok(ids.includes(model), `models: ${ids}`);

const unary = await openai.chat.completions.create(ask);
const text = unary.choices[0].message.content;
assert.ok(text.length > 0);
assert.equal(unary.usage.total_tokens, unary.usage.prompt_tokens + unary.usage.completion_tokens);

const likely = (await openai.chat.completions.create({ ...ask, logprobs: true, top_logprobs: 2 })).choices[0].logprobs.content;
assert.ok(likely.map((token) => token.token).join("").startsWith(text)); // the end of the turn is a token too
assert.ok(likely.every((token) => token.logprob <= 0 && token.top_logprobs.length === 2));

const completed = await openai.completions.create({ model, prompt: "Once upon", max_tokens: 8, temperature: 0 });
assert.ok(completed.choices[0].text.length > 0);

const embedded = await openai.embeddings.create({ model, input: ["Hello", "Hello there"] });
assert.deepEqual(embedded.data.map((item) => item.index), [0, 1]);
assert.ok(Math.abs(Math.hypot(...embedded.data[0].embedding) - 1) < 1e-4);
const plain = await openai.embeddings.create({ model, input: "Hello", encoding_format: "float" });
assert.ok(plain.data[0].embedding.every((number, i) => Math.abs(number - embedded.data[0].embedding[i]) < 1e-6));

let streamed = "";
for await (const chunk of await openai.chat.completions.create({ ...ask, stream: true })) {
  streamed += chunk.choices[0]?.delta?.content ?? "";
}
assert.equal(streamed, text);

const cancelled = await openai.chat.completions.create({ ...ask, stream: true, max_completion_tokens: 1000, ignore_eos: true });
for await (const _ of cancelled) break;
assert.ok(cancelled.controller.signal.aborted);

const fails = (change, type, check) =>
  assert.rejects(openai.chat.completions.create({ ...ask, ...change }), (error) => error instanceof type && check(error));
const wide = { model, input: "a", dimensions: 100_000 };
await assert.rejects(openai.embeddings.create(wide), OpenAI.BadRequestError);
await fails({ model: "no-such-model" }, OpenAI.NotFoundError, (error) => error.code === "model_not_found");
await fails({ messages: [] }, OpenAI.BadRequestError, (error) => error.type === "invalid_request_error");
await fails({ temperature: -7 }, OpenAI.BadRequestError, (error) => /Temperature must be between 0 and 2, got -7/.test(error.message));
