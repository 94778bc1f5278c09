// What the whole server does now: its figures over the last minutes, its models, its workers.

import { h, keyed, row, setAttribute, setText, table } from "./dom.js";
import { count, duration, percent, rate, time } from "./format.js";
import { departures, rankBars } from "./workers.js";
import "./spark.js";

const TILES = [
  { name: "requests_per_second", label: "Requests", unit: "/s", text: (t) => [rate(t.requests_per_second), "/s"], more: (t) => `${count(t.requests)} in all` },
  { name: "ttft_p50", second: "ttft_p95", label: "Time to first token", text: (t) => duration(t.ttft_p50), more: (t) => `p95 ${time(t.ttft_p95)}` },
  { name: "itl_p50", second: "itl_p95", label: "Between tokens", text: (t) => duration(t.itl_p50), more: (t) => `p95 ${time(t.itl_p95)}` },
  { name: "tokens_per_second", label: "Output tokens", text: (t) => [rate(t.tokens_per_second), "/s"], more: (t) => `${count(t.streams)} streams` },
  { name: "inflight", second: "without_token", label: "In flight", text: (t) => [count(t.inflight), ""], more: (t) => `${count(t.without_token)} before the first token` },
  { name: "waiting", second: "router_queue", label: "Waiting", text: (t) => [count(t.waiting), ""], more: (t) => `${count(t.router_queue)} for a worker` },
  { name: "hit_rate", label: "KV hit rate", least: 1, text: (t) => (t.hit_rate === null ? ["–", ""] : [(t.hit_rate * 100).toFixed(0), "%"]), more: () => "of prompt tokens" },
  {
    name: "refused_per_second",
    second: "failed_per_second",
    label: "Refused or failed",
    alarm: (t) => t.refused_per_second > 0 || t.failed_per_second > 0,
    text: (t) => [rate(t.refused_per_second === null ? null : t.refused_per_second + t.failed_per_second), "/s"],
    more: (t) => `${count(t.refused)} · ${count(t.failed)} · ${count(t.migrations)} migrated`,
  },
];

const MODELS = [
  ["Model"],
  ["State"],
  ["Workers", "n"],
  ["Requests/s", "n"],
  ["In flight", "n"],
  ["Waiting", "n", "For their turn here, and for a worker"],
  ["Tokens/s", "n"],
  ["TTFT p50", "n", "Time to first token, last 15 seconds"],
  ["p95", "n"],
  ["ITL p50", "n", "Time between tokens, last 15 seconds"],
  ["p95", "n"],
  ["KV hits", "n", "Prompt tokens found in the KV cache, as workers report"],
  ["Refused", "n"],
  ["Failed", "n"],
  ["Migrated", "n", "Legs that another worker continued"],
  ["Context", "n"],
];

export class Overview extends HTMLElement {
  #tiles = [];
  #models = table("Models", MODELS);
  #noModels = h("p", { class: "empty" }, "No model: no worker is in discovery. Start one, or look at its log.");
  #workers = h("div", { class: "bars" });
  #noWorkers = h("p", { class: "empty" }, "No worker is in discovery.");
  #departed = h("div", { class: "notices" });

  build() {
    const tiles = TILES.map((tile) => {
      const value = h("span", { class: "value" }, "–");
      const unit = h("span", { class: "unit" });
      const more = h("span", { class: "more" });
      const top = h("span", { class: "top" });
      const chart = h("spark-line", { "aria-label": `${tile.label}, last four minutes` });
      const element = h(
        "section",
        { class: "tile", "aria-label": tile.label },
        h("h3", {}, tile.label, top),
        h("p", {}, value, unit, more),
        chart,
      );
      this.#tiles.push({ tile, element, value, unit, more, chart, top });
      return element;
    });
    this.append(
      h("h2", { class: "unseen" }, "Overview"),
      h("div", { class: "tiles" }, ...tiles),
      this.#departed,
      h("section", { class: "panel" }, h("h2", {}, "Models"), this.#models.region, this.#noModels),
      h("section", { class: "panel" }, h("h2", {}, "KV memory by rank", h("span", { class: "hint" }, "blocks in use, as workers report")), this.#workers, this.#noWorkers),
    );
  }

  update(feed) {
    const { totals, models, workers, departed, at } = feed.sample;
    for (const { tile, element, value, unit, more, chart, top } of this.#tiles) {
      const [number, of] = tile.text(totals);
      setText(value, number);
      setText(unit, of);
      setText(more, tile.more(totals));
      element.classList.toggle("alarm", Boolean(tile.alarm?.(totals)));
      const highest = chart.draw(feed.column(tile.name), tile.second ? feed.column(tile.second) : [], tile.least ?? 0);
      setText(top, highest > 0 && !tile.least ? `max ${this.#scale(tile, highest)}` : "");
    }
    departures(this.#departed, departed, at);
    this.#showModels(models);
    rankBars(this.#workers, workers);
    this.#noWorkers.hidden = workers.length > 0;
  }

  #scale(tile, value) {
    return tile.name.endsWith("p50") ? time(value) : rate(value);
  }

  #showModels(models) {
    this.#models.region.hidden = models.length === 0;
    this.#noModels.hidden = models.length > 0;
    keyed(
      this.#models.body,
      models,
      (model) => model.name,
      () => row(MODELS),
      (line, model) => {
        const texts = [
          model.name,
          model.ready ? "ready" : model.why || "not ready",
          count(model.workers),
          rate(model.requests_per_second),
          count(model.inflight),
          count(model.waiting + model.router_queue),
          rate(model.tokens_per_second),
          time(model.ttft_p50),
          time(model.ttft_p95),
          time(model.itl_p50),
          time(model.itl_p95),
          percent(model.hit_rate),
          count(model.refused),
          count(model.failed),
          count(model.migrations),
          count(model.context_length),
        ];
        texts.forEach((text, i) => setText(line.children[i], text));
        setAttribute(line.children[1], "class", model.ready ? "state good" : "state bad");
        setAttribute(line.children[0], "title", title(model));
      },
    );
  }
}

function title(model) {
  const facts = [model.apis.join(", ")];
  if (model.aliases.length > 0) {
    facts.push(`also ${model.aliases.join(", ")}`);
  }
  if (model.adapter) {
    facts.push("a LoRA adapter");
  }
  return facts.join("; ");
}

customElements.define("console-overview", Overview);
