// A conversation with a model: streamed, with its thoughts and its tool calls.

import { addDelta, streamChat } from "./chat.js";
import { h, json, setText } from "./dom.js";
import { count, time } from "./format.js";

const TOOLS = [
  {
    type: "function",
    function: {
      name: "get_weather",
      description: "Weather of a city",
      parameters: { type: "object", properties: { location: { type: "string" } }, required: ["location"] },
    },
  },
];

export class Playground extends HTMLElement {
  #messages = []; // as the API takes them
  #log = h("div", { class: "log", role: "log", "aria-label": "Conversation", "aria-live": "off", tabindex: "0" });
  #hint = h("p", { class: "empty" }, "Ask something. Answers are streamed through the same API that clients use.");
  #status = h("p", { class: "status", role: "status" });
  #prompt = h("textarea", { name: "prompt", rows: "3", "aria-label": "Message", placeholder: "What is the capital of France?" });
  #send = h("button", { class: "primary" }, "Send");
  #stop = h("button", { type: "button", hidden: true, click: () => this.#abort?.abort() }, "Stop");
  #model = h("select", { name: "model" });
  #system = h("textarea", { name: "system", rows: "2" });
  #temperature = h("input", { name: "temperature", type: "number", min: "0", max: "2", step: "0.1", value: "0" });
  #maxTokens = h("input", { name: "max_tokens", type: "number", min: "1", step: "1", value: "256" });
  #effort = h("select", { name: "reasoning_effort" }, ...["as the model does", "none", "low", "medium", "high"].map((it, i) => h("option", { value: i === 0 ? "" : it }, it)));
  #withTools = h("input", { name: "use_tools", type: "checkbox", change: () => (this.#tools.disabled = !this.#withTools.checked) });
  #tools = h("textarea", { name: "tools", rows: "9", spellcheck: "false", class: "code", disabled: true, "aria-label": "Tools as JSON" });
  #abort = null;

  build() {
    this.#tools.value = JSON.stringify(TOOLS, null, 1);
    this.#prompt.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        this.#ask();
      }
    });
    const form = h(
      "form",
      {
        class: "ask",
        submit: (event) => {
          event.preventDefault();
          this.#ask();
        },
      },
      this.#prompt,
      h("div", { class: "buttons" }, this.#status, this.#stop, this.#send),
    );
    const settings = h(
      "aside",
      { class: "panel settings", "aria-label": "Settings of the request" },
      field("Model", this.#model),
      field("System message", this.#system),
      h("div", { class: "pair" }, field("Temperature", this.#temperature), field("Most tokens", this.#maxTokens)),
      field("Reasoning effort", this.#effort),
      h("label", { class: "check" }, this.#withTools, "Offer tools"),
      this.#tools,
      h("button", { type: "button", click: () => this.#clear() }, "New conversation"),
    );
    this.#log.append(this.#hint);
    this.append(h("h2", { class: "unseen" }, "Playground"), h("div", { class: "talk" }, h("section", { class: "panel" }, this.#log, form), settings));
  }

  /** Looks which models there are. */
  async open() {
    try {
      const { data } = await json("/v1/models");
      const chosen = this.#model.value;
      this.#model.replaceChildren(...data.map((model) => h("option", { value: model.id }, model.id)));
      if (data.some((model) => model.id === chosen)) {
        this.#model.value = chosen;
      }
      this.#send.disabled = data.length === 0;
      if (data.length === 0) {
        setText(this.#status, "No model can be asked now.");
      }
    } catch (error) {
      setText(this.#status, error.message);
    }
  }

  #clear() {
    this.#abort?.abort();
    this.#messages = [];
    this.#log.replaceChildren(this.#hint);
    setText(this.#status, "");
    this.#prompt.focus();
  }

  #ask() {
    const text = this.#prompt.value.trim();
    if (!text || this.#abort) {
      return;
    }
    this.#prompt.value = "";
    this.#messages.push({ role: "user", content: text });
    this.#add("user", h("p", { class: "text" }, text));
    this.#answer();
  }

  #add(role, ...parts) {
    this.#hint.remove();
    const article = h("article", { class: `message ${role}`, "aria-label": role }, h("h3", {}, role), ...parts);
    this.#log.append(article);
    this.#log.scrollTop = this.#log.scrollHeight;
    return article;
  }

  /** The request; throws where the tools are not JSON. */
  #body() {
    const system = this.#system.value.trim();
    const body = {
      model: this.#model.value,
      messages: system ? [{ role: "system", content: system }, ...this.#messages] : this.#messages,
      temperature: this.#temperature.valueAsNumber || 0,
      max_tokens: this.#maxTokens.valueAsNumber || 256,
    };
    if (this.#effort.value) {
      body.reasoning_effort = this.#effort.value;
    }
    if (this.#withTools.checked) {
      body.tools = JSON.parse(this.#tools.value);
    }
    return body;
  }

  async #answer() {
    const conversation = this.#messages;
    const message = { content: "", reasoning: "", calls: [] };
    const shown = answerParts();
    const article = this.#add("assistant", shown.thoughts, shown.text, shown.calls, shown.foot);
    this.#abort = new AbortController();
    this.#stop.hidden = false;
    this.#send.disabled = true;
    setText(this.#status, "Waiting for the first token");
    const begun = performance.now();
    const facts = { first: null, id: "", usage: null, finish: null };
    try {
      for await (const chunk of streamChat(this.#body(), this.#abort.signal)) {
        facts.id = chunk.id ?? facts.id;
        facts.usage = chunk.usage ?? facts.usage;
        for (const choice of chunk.choices ?? []) {
          facts.finish = choice.finish_reason ?? facts.finish;
          addDelta(message, choice.delta ?? {});
        }
        if (facts.first === null && (message.content || message.reasoning || message.calls.length > 0)) {
          facts.first = performance.now() - begun;
          setText(this.#status, "Streaming");
        }
        shown.show(message);
        this.#log.scrollTop = this.#log.scrollHeight;
      }
      setText(this.#status, "Done");
    } catch (error) {
      const stopped = error.name === "AbortError";
      setText(this.#status, stopped ? "Stopped" : "Failed");
      if (!stopped) {
        article.append(h("p", { class: "notice bad", role: "alert" }, error.message));
      }
    } finally {
      this.#abort = null;
      this.#stop.hidden = true;
      this.#send.disabled = false;
    }
    if (conversation === this.#messages) {
      this.#end(message, shown, facts, performance.now() - begun);
    }
  }

  /** Says what the answer took, and asks for the results of its tool calls. */
  #end(message, shown, facts, total) {
    const calls = message.calls.filter(Boolean);
    if (message.content || calls.length > 0) {
      this.#messages.push(
        calls.length > 0
          ? {
              role: "assistant",
              content: message.content || null,
              tool_calls: calls.map((call) => ({ id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } })),
            }
          : { role: "assistant", content: message.content },
      );
    }
    const words = [];
    if (facts.first !== null) {
      words.push(`first token ${time(facts.first / 1000)}`, `${time(total / 1000)} in all`);
    }
    if (facts.usage) {
      const cached = facts.usage.prompt_tokens_details?.cached_tokens;
      words.push(`${count(facts.usage.prompt_tokens)} tokens in${cached ? ` (${count(cached)} cached)` : ""}`, `${count(facts.usage.completion_tokens)} out`);
    }
    if (facts.finish) {
      words.push(`finish ${facts.finish}`);
    }
    shown.foot.append(h("span", {}, words.join(" · ")));
    if (facts.id) {
      shown.foot.append(h("a", { href: `#routing/${encodeURIComponent(facts.id)}` }, "Why this worker"));
    }
    if (calls.length > 0) {
      this.#askForResults(shown.calls, calls);
    }
  }

  #askForResults(parent, calls) {
    const inputs = calls.map((call) => h("input", { "aria-label": `Result of ${call.name}`, placeholder: `Result of ${call.name}`, autocomplete: "off" }));
    const form = h(
      "form",
      {
        class: "results",
        submit: (event) => {
          event.preventDefault();
          if (this.#abort) {
            return;
          }
          form.remove();
          calls.forEach((call, i) => {
            this.#messages.push({ role: "tool", tool_call_id: call.id, content: inputs[i].value });
            this.#add("tool", h("p", { class: "text" }, inputs[i].value));
          });
          this.#answer();
        },
      },
      ...inputs,
      h("button", {}, "Send results"),
    );
    parent.append(form);
  }
}

function field(label, input) {
  return h("label", { class: "field" }, h("span", {}, label), input);
}

/** The parts of an answer, that fill as it comes. */
function answerParts() {
  const thought = h("p", { class: "text" });
  const thoughts = h("details", { class: "thoughts", open: true, hidden: true }, h("summary", {}, "Reasoning"), thought);
  const text = h("p", { class: "text answer" });
  const calls = h("div", { class: "calls" });
  const foot = h("p", { class: "foot" });
  const show = (message) => {
    thoughts.hidden = message.reasoning === "";
    setText(thought, message.reasoning);
    setText(text, message.content);
    message.calls.forEach((call, i) => {
      let card = calls.children[i];
      if (!card) {
        card = h("div", { class: "call" }, h("span", { class: "tag" }, "tool call"), h("code", {}), h("pre", {}));
        calls.append(card);
      }
      setText(card.children[1], call.name);
      setText(card.children[2], call.arguments);
    });
  };
  return { thoughts, text, calls, foot, show };
}

customElements.define("console-playground", Playground);
