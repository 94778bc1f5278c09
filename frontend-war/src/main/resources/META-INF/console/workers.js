// The workers, each rank with its load, and those that have left.

import { h, keyed, row, setAttribute, setText, table } from "./dom.js";
import { ago, at as clock, brief, count, percent, time, UNKNOWN } from "./format.js";

const RANKS = [
  ["Rank", "rank"],
  ["KV memory", "wide", "Blocks held by generations, as the worker reports"],
  ["Booked", "n", "Blocks of requests that this router has placed there"],
  ["Prefill", "n", "Prompt tokens booked whose first output is not out"],
  ["Running", "n", "Known for a worker in this process only"],
  ["Waiting", "n", "Known for a worker in this process only"],
  ["Prefix hits", "n", "Prompt blocks that the rank was believed to hold, of the newest decisions"],
  ["Last TTFT", "n"],
  ["Last ITL", "n"],
  ["Report", "n", "Age of the newest load report"],
];

/** Fills a bar that says how much of a rank's KV memory is in use. */
function fillBar(bar, rank, label) {
  const used = rank.used_blocks;
  const total = rank.total_blocks;
  const known = typeof used === "number" && typeof total === "number" && total > 0;
  const part = known ? Math.min(1, used / total) : 0;
  bar.style.setProperty("--part", part.toFixed(3));
  bar.classList.toggle("unknown", !known);
  bar.classList.toggle("full", part > 0.9);
  setAttribute(bar, "aria-valuenow", String(Math.round(part * 100)));
  setAttribute(bar, "aria-valuetext", known ? `${count(used)} of ${count(total)} blocks` : "not known");
  setAttribute(bar, "aria-label", label);
}

function bar() {
  return h("span", { class: "bar", role: "meter", "aria-valuemin": "0", "aria-valuemax": "100" }, h("span", { class: "fill" }));
}

/** One bar for each rank of each worker. */
export function rankBars(parent, workers) {
  const ranks = workers.flatMap((worker) => worker.ranks.map((rank) => ({ worker, rank })));
  keyed(
    parent,
    ranks,
    ({ worker, rank }) => `${worker.id}/${rank.rank}`,
    () => h("div", { class: "rank-bar" }, h("span", { class: "id" }), bar(), h("span", { class: "n" })),
    (line, { worker, rank }) => {
      const [name, gauge, text] = line.children;
      setText(name, `${brief(worker.id)} · ${rank.rank}`);
      setAttribute(name, "title", `${worker.id}, rank ${rank.rank}`);
      fillBar(gauge, rank, `KV memory of worker ${worker.id}, rank ${rank.rank}`);
      setText(text, blocks(rank));
      line.classList.toggle("down", worker.state !== "live");
    },
  );
}

function blocks(rank) {
  return `${count(rank.used_blocks)} / ${count(rank.total_blocks)}`;
}

/** A line for each worker that has left. */
export function departures(parent, departed, now) {
  const lately = departed.filter((worker) => now - worker.at < 600_000);
  keyed(
    parent,
    lately,
    (worker) => `${worker.id}/${worker.at}`,
    () => h("p", { class: "notice" }),
    (line, worker) => setText(line, `Worker ${worker.id} (${worker.model}) left ${ago(worker.at, now)} ago, at ${clock(worker.at)}.`),
  );
}

export class Workers extends HTMLElement {
  #departed = h("div", { class: "notices" });
  #list = h("div", {});
  #empty = h("p", { class: "empty" }, "No worker is in discovery. A worker appears here with its model card, as soon as it is ready.");
  #omitted = h("p", { class: "hint" });

  build() {
    this.append(h("h2", { class: "unseen" }, "Workers"), this.#departed, this.#list, this.#empty, this.#omitted);
  }

  update(feed) {
    const { workers, departed, at, workers_omitted: omitted } = feed.sample;
    departures(this.#departed, departed, at);
    this.#empty.hidden = workers.length > 0;
    setText(this.#omitted, omitted > 0 ? `${omitted} more workers are not listed.` : "");
    keyed(this.#list, workers, (worker) => worker.id, makeWorker, (panel, worker) => showWorker(panel, worker, at));
  }
}

function makeWorker(worker) {
  const { region, body } = table(`Ranks of worker ${worker.id}`, RANKS);
  const state = h("span", { class: "state" });
  const facts = h("dl", { class: "facts" });
  const panel = h("section", { class: "panel worker", "aria-label": `Worker ${worker.id}` }, h("h2", {}, h("code", {}, worker.id), state), facts, region);
  Object.assign(panel, { state, facts, ranks: body });
  return panel;
}

function showWorker(panel, worker, now) {
  setText(panel.state, worker.state);
  setAttribute(panel.state, "class", worker.state === "live" ? "state good" : "state bad");
  const facts = [
    ["Models", worker.models.join(", ")],
    ["Type", worker.type],
    ["Endpoint", worker.endpoint],
    ["Address", worker.address ?? UNKNOWN],
    ["Seen for", ago(worker.since, now)],
    ["Process", worker.own ? "this one" : "another"],
  ];
  keyed(
    panel.facts,
    facts,
    ([name]) => name,
    ([name]) => h("div", {}, h("dt", {}, name), h("dd", {})),
    (fact, [, value]) => setText(fact.lastElementChild, value),
  );
  keyed(panel.ranks, worker.ranks, (rank) => String(rank.rank), makeRank, (line, rank) => showRank(line, rank, worker));
}

function makeRank() {
  const line = row(RANKS);
  line.children[1].append(h("span", { class: "gauge" }, bar(), h("span", {})));
  return line;
}

function showRank(line, rank, worker) {
  const gauge = line.children[1].firstElementChild;
  fillBar(gauge.firstElementChild, rank, `KV memory of rank ${rank.rank}`);
  setText(gauge.lastElementChild, blocks(rank));
  const texts = {
    0: String(rank.rank),
    2: count(rank.booked_blocks),
    3: count(rank.booked_prefill_tokens),
    4: count(rank.running),
    5: count(rank.waiting),
    6: percent(rank.hit_rate),
    7: time(rank.ttft),
    8: time(rank.itl),
    9: rank.report_age === null ? UNKNOWN : `${rank.report_age.toFixed(0)} s`,
  };
  for (const [i, text] of Object.entries(texts)) {
    setText(line.children[i], text);
  }
  line.classList.toggle("down", worker.state !== "live");
}

customElements.define("console-workers", Workers);
