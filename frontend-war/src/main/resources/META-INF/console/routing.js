// Why a request went where it went: the newest decisions, and all candidates of one.

import { h, json, keyed, row, setAttribute, setText, table } from "./dom.js";
import { at, brief, count, percent, UNKNOWN } from "./format.js";

const DECISIONS = [
  ["Time"],
  ["Request"],
  ["Model"],
  ["Worker · rank"],
  ["Reason"],
  ["Candidates", "n"],
  ["Prompt", "n", "Blocks of the prompt"],
  ["Cached", "n", "Leading blocks that the chosen rank was believed to hold"],
  ["Cost", "n", "In blocks; the least wins"],
  ["Decided in", "n", "From the request's arrival to the decision"],
];

const CANDIDATES = [
  ["Worker · rank"],
  ["Device", "n", "Leading blocks cached on the device"],
  ["Host", "n"],
  ["Disk", "n"],
  ["Requests", "n", "In flight on the rank"],
  ["Active", "n", "Blocks of the requests on the rank"],
  ["Added", "n", "Blocks of this prompt that are not active there"],
  ["Prefill", "n", "Cost of this prompt and of the prefill booked before it"],
  ["Credit", "n", "Reduction for cached blocks"],
  ["Decode", "n", "Cost of active and added blocks"],
  ["Cost", "n"],
  ["", "wide"],
];

const REASONS = {
  least_cost: "least cost",
  only_candidate: "only candidate",
  tie_random: "tie, at random",
  tie_fewest_requests: "tie, fewest requests",
  pinned: "pinned",
  session: "session",
};

export class Routing extends HTMLElement {
  #decisions = table("Newest decisions", DECISIONS);
  #empty = h("p", { class: "empty" }, "No decision is kept yet. Send a request, for example from the playground.");
  #error = h("p", { class: "notice bad", role: "alert", hidden: true });
  #detail = h("section", { class: "panel detail", "aria-live": "polite", hidden: true });
  #input = h("input", { type: "search", name: "id", placeholder: "chatcmpl-…", "aria-label": "Id of a request", autocomplete: "off", spellcheck: "false" });
  #placed = null;
  #loading = false;

  build() {
    const form = h(
      "form",
      {
        class: "bar-form",
        submit: (event) => {
          event.preventDefault();
          const id = this.#input.value.trim();
          if (id) {
            location.hash = `#routing/${encodeURIComponent(id)}`;
          }
        },
      },
      h("label", {}, "Explain a request ", this.#input),
      h("button", {}, "Explain"),
    );
    this.append(
      h("h2", { class: "unseen" }, "Routing"),
      form,
      this.#error,
      this.#detail,
      h("section", { class: "panel" }, h("h2", {}, "Newest decisions"), this.#decisions.region, this.#empty),
    );
  }

  /** Shows the decision for an id; without one, the list alone. */
  async open(id) {
    this.#placed = null; // look again
    if (!id) {
      this.#detail.hidden = true;
      this.#error.hidden = true;
      return;
    }
    this.#input.value = id;
    try {
      this.#explain(await json(`/console/data/decisions/${encodeURIComponent(id)}`));
      this.#error.hidden = true;
    } catch (error) {
      this.#detail.hidden = true;
      this.#error.hidden = false;
      setText(this.#error, `${brief(id)}: ${error.message}`);
    }
  }

  update(feed) {
    const placed = feed.sample.totals.requests;
    if (placed !== this.#placed && !this.#loading) {
      this.#placed = placed;
      this.#load();
    }
  }

  async #load() {
    this.#loading = true;
    try {
      const { decisions } = await json("/console/data/decisions");
      this.#list(decisions);
    } catch (error) {
      this.#placed = null;
      this.#error.hidden = false;
      setText(this.#error, error.message);
    } finally {
      this.#loading = false;
    }
  }

  #list(decisions) {
    this.#empty.hidden = decisions.length > 0;
    this.#decisions.region.hidden = decisions.length === 0;
    keyed(
      this.#decisions.body,
      decisions,
      (it) => `${it.request_id} ${it.at}`,
      (it) => {
        const line = row(DECISIONS);
        line.children[1].append(h("a", { href: `#routing/${encodeURIComponent(it.request_id)}`, title: it.request_id }, h("code", {}, brief(it.request_id))));
        return line;
      },
      (line, it) => {
        const chosen = it.candidate;
        const texts = {
          0: at(Date.parse(it.at)),
          2: it.model,
          3: where(it.chosen),
          4: reasonOf(it),
          5: count(it.total_candidates),
          6: count(blocksOf(it)),
          7: chosen ? count(chosen.overlap_blocks.device) : UNKNOWN,
          8: chosen ? cost(chosen.cost) : UNKNOWN,
          9: `${it.waited_ms.toFixed(1)} ms`,
        };
        for (const [i, text] of Object.entries(texts)) {
          setText(line.children[i], text);
        }
      },
    );
  }

  #explain(decision) {
    const { region, body } = table("Candidates", CANDIDATES);
    const chosen = where(decision.chosen);
    const most = Math.max(...decision.candidates.map((it) => it.terms.prefill + it.terms.decode), 1);
    const sorted = [...decision.candidates].sort((a, b) => a.cost - b.cost);
    keyed(
      body,
      sorted,
      (it) => where(it),
      () => row(CANDIDATES),
      (line, it) => {
        const texts = [
          where(it),
          count(it.overlap_blocks.device),
          count(it.overlap_blocks.host),
          count(it.overlap_blocks.disk),
          count(it.load.requests),
          count(it.load.active_blocks),
          count(it.load.added_blocks),
          cost(it.terms.prefill),
          it.terms.credit > 0 ? `−${cost(it.terms.credit)}` : cost(it.terms.credit),
          cost(it.terms.decode),
          cost(it.cost),
        ];
        texts.forEach((text, i) => setText(line.children[i], text));
        if (where(it) === chosen) {
          line.classList.add("chosen");
          line.children[0].append(h("span", { class: "tag" }, "chosen"));
        }
        line.lastElementChild.append(costBar(it, most));
      },
    );
    const blocks = blocksOf(decision);
    const winner = decision.candidates.find((it) => where(it) === chosen);
    const facts = [
      ["Request", decision.request_id],
      ["Model", decision.model],
      ["Mode", decision.mode],
      ["Reason", reasonOf(decision)],
      ["Prompt", `${count(decision.prompt_tokens)} tokens, ${count(blocks)} complete ${blocks === 1 ? "block" : "blocks"}`],
      ["Cached", winner && blocks > 0 ? `${count(winner.overlap_blocks.device)} blocks, ${percent(winner.overlap_blocks.device / blocks)}` : UNKNOWN],
      ["Decided in", `${decision.waited_ms.toFixed(1)} ms, ${decision.queued_ms.toFixed(1)} ms of it in the queue`],
    ];
    this.#detail.replaceChildren(
      h("h2", {}, `Why ${chosen}`, h("a", { class: "close", href: "#routing" }, "Close")),
      h("dl", { class: "facts" }, ...facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
      region,
      h("p", { class: "hint legend" }, h("i", { class: "key prefill" }), "prefill ", h("i", { class: "key decode" }), "decode ", h("i", { class: "key credit" }), "saved by the cache"),
    );
    this.#detail.hidden = false;
  }
}

function where(rank) {
  return `${rank.worker} · ${rank.dp_rank}`;
}

function blocksOf(decision) {
  return decision.block_tokens > 0 ? Math.floor(decision.prompt_tokens / decision.block_tokens) : null;
}

function reasonOf(decision) {
  const narrowed = decision.narrowed_by === "none" ? "" : ` (${decision.narrowed_by})`;
  return (REASONS[decision.reason] ?? decision.reason.replaceAll("_", " ")) + narrowed;
}

function cost(value) {
  return Number.isInteger(value) ? count(value) : value.toFixed(2);
}

/** The terms of a cost beside those of the other candidates. */
function costBar(candidate, most) {
  const { prefill, decode, credit } = candidate.terms;
  const part = (name, value) => {
    const element = h("i", { class: name });
    element.style.setProperty("--part", Math.max(0, value / most).toFixed(4));
    return element;
  };
  const bar = h("span", { class: "terms", "aria-hidden": "true" }, part("prefill", prefill - credit), part("credit", Math.min(credit, prefill)), part("decode", decode));
  setAttribute(bar, "title", `prefill ${cost(prefill)}, credit ${cost(credit)}, decode ${cost(decode)}`);
  return bar;
}

customElements.define("console-routing", Routing);
