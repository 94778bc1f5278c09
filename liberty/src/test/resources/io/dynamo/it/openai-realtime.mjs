// A realtime session by OpenAI's SDK for Node, unmodified: node --experimental-websocket openai-realtime.mjs <base url> <unused>.
// The SDK takes Node's own WebSocket, which offers the key as a protocol. It has no option for servers without TLS: its hook for the address is used.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createRequire } from "node:module";

const require = createRequire(process.cwd() + "/");
const { OpenAI } = require("openai");
const { OpenAIRealtimeWebSocket } = require("openai/realtime/websocket");

const client = new OpenAI({ baseURL: process.argv[2], apiKey: "none" });
const session = new OpenAIRealtimeWebSocket({ model: "talker", onURL: (url) => (url.protocol = "ws") }, client);
const heard = [];
let wake = () => {};
session.on("event", (event) => {
  heard.push(event);
  wake();
});
const errors = [];
session.on("error", (error) => errors.push(error));
const closed = once(session.socket, "close");
const limit = AbortSignal.timeout(60_000);

async function next(type) {
  while (heard.length === 0) {
    limit.throwIfAborted();
    await new Promise((resolve, reject) => {
      wake = resolve;
      limit.addEventListener("abort", () => reject(limit.reason), { once: true });
    });
  }
  const event = heard.shift();
  assert.equal(event.type, type, JSON.stringify(event));
  return event;
}

await next("session.created");
assert.equal(session.socket.protocol, "realtime"); // of those offered, never the key
session.send({ type: "response.create" });
assert.equal((await next("error")).error.code, "invalid_request");
session.send({ type: "session.update", session: { type: "realtime", model: "nobody" } });
assert.equal((await next("error")).error.code, "model_not_found");
assert.deepEqual(errors.map((error) => error.error.code), ["invalid_request", "model_not_found"]);

session.send({ type: "session.update", session: { type: "realtime", instructions: "Be short." } }); // the model is in the address
assert.equal((await next("session.updated")).session.instructions, "Be short.");
const content = [{ type: "input_text", text: "Hi from Node" }];
session.send({ type: "conversation.item.create", item: { type: "message", role: "user", content } });
assert.deepEqual((await next("conversation.item.added")).item.content, content);
session.send({ type: "response.create" });
assert.equal((await next("response.output_text.delta")).delta, "part0");
assert.equal((await next("response.output_text.delta")).delta, "part1");
assert.equal((await next("response.done")).response.status, "completed");

session.close({ code: 1000, reason: "bye" });
const [close] = await closed;
assert.equal(close.code, 1000);
assert.equal(close.reason, "bye");
