// Files and batches by OpenAI's SDK for Node, unmodified: node openai-batches.mjs <base url> <model>. Exits 0 when everything held.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { setTimeout } from "node:timers/promises";

const require = createRequire(process.cwd() + "/");
const { OpenAI, toFile } = require("openai");
const [baseURL, model] = process.argv.slice(2);
const openai = new OpenAI({ baseURL, apiKey: "node", maxRetries: 0, timeout: 60_000 });

const url = "/v1/chat/completions";
const line = (custom_id, temperature) =>
  JSON.stringify({
    custom_id, method: "POST", url,
    body: { model, temperature, max_tokens: 8, messages: [{ role: "user", content: "Hello" }] },
  }) + "\n";
const text = line("one", 0) + line("two", 9);
const file = await openai.files.create({ file: await toFile(Buffer.from(text), "in.jsonl"), purpose: "batch" });
assert.equal(file.bytes, text.length);
assert.equal(await (await openai.files.content(file.id)).text(), text);

let batch = await openai.batches.create({ input_file_id: file.id, endpoint: url, completion_window: "24h" });
for (let i = 0; !["completed", "failed", "expired", "cancelled"].includes(batch.status); i++) {
  assert.ok(i < 900, `${batch.id} is ${batch.status}`);
  await setTimeout(100);
  batch = await openai.batches.retrieve(batch.id);
}
assert.deepEqual(batch.request_counts, { total: 2, completed: 1, failed: 1 });
const [answer] = (await (await openai.files.content(batch.output_file_id)).text()).trim().split("\n").map(JSON.parse);
assert.equal(answer.custom_id, "one");
assert.ok(answer.response.body.choices[0].message.content.length > 0);
const [error] = (await (await openai.files.content(batch.error_file_id)).text()).trim().split("\n").map(JSON.parse);
assert.equal(error.response.status_code, 400);

const ids = [];
for await (const listed of openai.batches.list()) ids.push(listed.id);
assert.deepEqual(ids, [batch.id]);
await assert.rejects(openai.batches.retrieve("batch_none"), OpenAI.NotFoundError);
const files = [];
for await (const listed of openai.files.list({ limit: 1 })) files.push(listed.id);
for (const id of [file.id, batch.output_file_id, batch.error_file_id]) assert.ok(files.includes(id), `${id} in ${files}`);
assert.ok((await openai.files.delete(file.id)).deleted);
await assert.rejects(openai.files.content(file.id), OpenAI.NotFoundError);
await assert.rejects(openai.files.retrieve(file.id), OpenAI.NotFoundError);
