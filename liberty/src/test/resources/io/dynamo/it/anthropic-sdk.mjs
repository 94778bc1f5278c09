// Anthropic's SDK for Node, unmodified: anthropic-sdk.mjs <base url>/v1 <model>. Exits 0 when everything held.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(path.join(process.cwd(), 'package.json'));
const { Anthropic } = require('@anthropic-ai/sdk');

const [baseURL, model] = [process.argv[2].replace(/\/v1$/, ''), process.argv[3]];
const client = new Anthropic({ baseURL, apiKey: 'none', maxRetries: 0, timeout: 60_000 });
const ask = {
  model,
  max_tokens: 64,
  temperature: 0,
  thinking: { type: 'disabled' },
  messages: [{ role: 'user', content: 'What is the capital of France?' }],
};

const served = [];
for await (const listed of client.models.list()) served.push(listed.id);
assert.ok(served.includes(model), `models: ${served}`);

const whole = await client.messages.create(ask);
assert.equal(whole.stop_reason, 'end_turn');
assert.match(whole.content[0].text, /Paris/);

const stream = client.messages.stream(ask);
let text = '';
stream.on('text', (part) => (text += part));
const final = await stream.finalMessage();
assert.equal(text, whole.content[0].text);
assert.equal(final.usage.output_tokens, whole.usage.output_tokens);

const counted = await client.messages.countTokens({ model, messages: ask.messages, thinking: ask.thinking });
assert.equal(counted.input_tokens, whole.usage.input_tokens + (whole.usage.cache_read_input_tokens ?? 0));

const weather = {
  ...ask,
  messages: [{ role: 'user', content: 'What is the weather in Paris?' }],
  tools: [
    {
      name: 'get_weather',
      description: 'Weather of a city',
      input_schema: { type: 'object', properties: { location: { type: 'string' } } },
    },
  ],
};
for (const called of [await client.messages.create(weather), await client.messages.stream(weather).finalMessage()]) {
  assert.equal(called.stop_reason, 'tool_use');
  assert.deepEqual(called.content.at(-1).input, { location: 'Paris' });
}

const thought = await client.messages.create({
  ...ask,
  max_tokens: 200,
  thinking: { type: 'enabled', budget_tokens: 1024 },
  messages: [{ role: 'user', content: 'What is 3 plus 4? Think step by step.' }],
});
assert.equal(thought.content[0].type, 'thinking');
assert.ok(thought.content[0].thinking.length > 0);

const count = { ...ask, max_tokens: 800, messages: [{ role: 'user', content: 'Count to twenty.' }] }; // an answer without an end
const left = await client.messages.create({ ...count, stream: true });
for await (const event of left) if (event.type === 'content_block_delta') break;

await assert.rejects(client.messages.create({ ...ask, model: 'nobody' }), Anthropic.NotFoundError);
await assert.rejects(client.messages.create({ ...ask, temperature: 9 }), Anthropic.BadRequestError);
