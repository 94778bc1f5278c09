// Images by Anthropic's SDK for Node, unmodified: anthropic-image.mjs <base url>/v1 <unused> <question> <PNG in base64> <a PNG that is too wide>.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(path.join(process.cwd(), 'package.json'));
const { Anthropic } = require('@anthropic-ai/sdk');

const [base, , question, picture, wide] = process.argv.slice(2);
const client = new Anthropic({ baseURL: base.replace(/\/v1$/, ''), apiKey: 'none', maxRetries: 0, timeout: 60_000 });
const ask = (data) => ({
  model: 'plain',
  max_tokens: 4,
  messages: [
    {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
        { type: 'text', text: question },
      ],
    },
  ],
});

const whole = await client.messages.create(ask(picture));
assert.equal(whole.stop_reason, 'end_turn');
assert.ok(whole.usage.input_tokens > 0);
const streamed = await client.messages.stream(ask(picture)).finalMessage();
assert.equal(streamed.content[0].text, whole.content[0].text);
await assert.rejects(client.messages.create({ ...ask(wide), model: 'decoding' }), Anthropic.BadRequestError);
