// The newest requests that ended in an error, as their clients got it.

import { h, json, keyed, row, setAttribute, setText, table } from "./dom.js";
import { at, brief, UNKNOWN } from "./format.js";

const COLUMNS = [["Time"], ["Status", "n"], ["Type"], ["Message"], ["Model"], ["API"], ["Worker"], ["Request"]];

export class Errors extends HTMLElement {
  #table = table("Requests that ended in an error", COLUMNS);
  #empty = h("p", { class: "empty" }, "No request has ended in an error since this server started.");
  #error = h("p", { class: "notice bad", role: "alert", hidden: true });
  #seen = -1;
  #loading = false;

  build() {
    this.append(h("h2", { class: "unseen" }, "Errors"), this.#error, h("section", { class: "panel" }, h("h2", {}, "Newest errors"), this.#table.region, this.#empty));
  }

  update(feed) {
    const { failures } = feed.sample;
    if (failures !== this.#seen && !this.#loading) {
      this.#seen = failures;
      this.#load();
    }
  }

  async #load() {
    this.#loading = true;
    try {
      const { failures } = await json("/console/data/failures");
      this.#show(failures);
      this.#error.hidden = true;
    } catch (error) {
      this.#seen = -1;
      this.#error.hidden = false;
      setText(this.#error, error.message);
    } finally {
      this.#loading = false;
    }
  }

  #show(failures) {
    this.#empty.hidden = failures.length > 0;
    this.#table.region.hidden = failures.length === 0;
    keyed(
      this.#table.body,
      failures,
      (it) => `${it.request_id} ${it.at}`,
      () => row(COLUMNS),
      (line, it) => {
        const texts = [at(it.at), String(it.status), it.type.replaceAll("_", " "), it.message, it.model ?? UNKNOWN, it.endpoint.replaceAll("_", " "), it.worker ?? UNKNOWN];
        texts.forEach((text, i) => setText(line.children[i], text));
        setAttribute(line.children[1], "class", it.status >= 500 ? "n bad" : "n");
        setAttribute(line.children[3], "class", "reason");
        if (line.lastElementChild.childElementCount === 0) {
          line.lastElementChild.append(
            h("a", { href: `#routing/${encodeURIComponent(it.request_id)}`, title: it.request_id }, h("code", {}, brief(it.request_id))),
          );
        }
        if (it.trace_id) {
          setAttribute(line.lastElementChild, "title", `trace ${it.trace_id}`);
        }
      },
    );
  }
}

customElements.define("console-errors", Errors);
