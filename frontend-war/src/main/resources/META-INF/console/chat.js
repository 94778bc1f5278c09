// One streamed chat completion.

import { reason } from "./dom.js";

/**
 * Sends a request and yields its chunks as they come.
 *
 * @param signal ends the request; the server stops the engine then
 */
export async function* streamChat(body, signal) {
  const response = await fetch("/v1/chat/completions", {
    method: "POST",
    signal,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true } }),
  });
  if (!response.ok) {
    throw new Error(await reason(response));
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      rest += part.value;
      const events = rest.split("\n\n");
      rest = events.pop();
      for (const event of events) {
        const data = event
          .split("\n")
          .filter((line) => line.startsWith("data: "))
          .map((line) => line.slice(6))
          .join("\n");
        if (data === "[DONE]") {
          return;
        }
        if (data) {
          const chunk = JSON.parse(data);
          if (chunk.error) {
            throw new Error(chunk.error.message ?? "The answer broke off.");
          }
          yield chunk;
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => {}); // it may have ended already
  }
}

/** Adds what a chunk says to a message: text, thoughts and parts of tool calls. */
export function addDelta(message, delta) {
  if (delta.content) {
    message.content += delta.content;
  }
  const thought = delta.reasoning_content ?? delta.reasoning;
  if (thought) {
    message.reasoning += thought;
  }
  for (const call of delta.tool_calls ?? []) {
    const known = (message.calls[call.index ?? 0] ??= { id: "", name: "", arguments: "" });
    known.id ||= call.id ?? "";
    known.name += call.function?.name ?? "";
    known.arguments += call.function?.arguments ?? "";
  }
}
