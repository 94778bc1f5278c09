// All settings with their effective values; secrets are not among what the server sends.

import { h, json, setText, table } from "./dom.js";
import { UNKNOWN } from "./format.js";

const COLUMNS = [["Setting"], ["Value"], ["From"], ["Default"], ["Bound"], ["Variables"]];

export class Settings extends HTMLElement {
  #rows = []; // { key, text, changed, line }
  #table = table("Settings", COLUMNS);
  #filter = h("input", { type: "search", name: "filter", placeholder: "router, timeout, DYN_…", "aria-label": "Filter settings", autocomplete: "off", input: () => this.#show() });
  #changed = h("input", { type: "checkbox", name: "changed", change: () => this.#show() });
  #count = h("span", { class: "hint", role: "status" });
  #error = h("p", { class: "notice bad", role: "alert", hidden: true });
  #empty = h("p", { class: "empty", hidden: true }, "No setting matches.");

  build() {
    this.append(
      h("h2", { class: "unseen" }, "Settings"),
      h("div", { class: "bar-form" }, h("label", {}, "Filter ", this.#filter), h("label", { class: "check" }, this.#changed, "Only those that are set"), this.#count),
      this.#error,
      h("section", { class: "panel" }, this.#table.region, this.#empty),
    );
  }

  async open() {
    if (this.#rows.length > 0) {
      return; // they are read once, at the server's start
    }
    try {
      const { settings } = await json("/console/data/settings");
      this.#rows = Object.entries(settings).map(([key, it]) => line(key, it));
      this.#table.body.replaceChildren(...this.#rows.map((it) => it.line));
      this.#error.hidden = true;
      this.#show();
    } catch (error) {
      this.#error.hidden = false;
      setText(this.#error, error.message);
    }
  }

  #show() {
    const wanted = this.#filter.value.trim().toLowerCase();
    let shown = 0;
    for (const it of this.#rows) {
      const hidden = (this.#changed.checked && !it.changed) || !it.text.includes(wanted);
      it.line.hidden = hidden;
      shown += hidden ? 0 : 1;
    }
    setText(this.#count, `${shown} of ${this.#rows.length}`);
    this.#empty.hidden = shown > 0 || this.#rows.length === 0;
  }
}

function line(key, it) {
  const changed = it.source !== "default";
  const element = h(
    "tr",
    { class: changed ? "changed" : null },
    h("th", { scope: "row" }, h("code", {}, key), h("p", { class: "hint" }, it.meaning)),
    h("td", { class: "value" }, h("code", {}, it.value ?? UNKNOWN)),
    h("td", {}, it.source),
    h("td", {}, h("code", {}, it.default ?? UNKNOWN)),
    h("td", {}, it.bound ?? it.type),
    h("td", { class: "variables" }, ...it.variables.map((name) => h("code", {}, name))),
  );
  return { key, changed, line: element, text: [key, it.meaning, it.value ?? "", ...it.variables].join(" ").toLowerCase() };
}

customElements.define("console-settings", Settings);
