// A small line chart of one or two figures over the last minutes.

import { setAttribute, svg } from "./dom.js";

const WIDTH = 240; // samples
const HEIGHT = 40;

/** The chart. Its label is for screen readers; the numbers beside it say the same. */
export class SparkLine extends HTMLElement {
  #area = svg("path", { class: "area" });
  #lines = [svg("path", { class: "line second" }), svg("path", { class: "line" })];
  #drawn = false;

  connectedCallback() {
    if (!this.#drawn) {
      this.#drawn = true;
      this.setAttribute("role", "img");
      this.append(
        svg(
          "svg",
          { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true", focusable: "false" },
          this.#area,
          ...this.#lines,
        ),
      );
    }
  }

  /**
   * Draws values, newest last; null where a value is not known.
   *
   * @param least the value that the top stands for at least
   */
  draw(values, second = [], least = 0) {
    let top = least;
    for (const value of values) top = Math.max(top, value ?? 0);
    for (const value of second) top = Math.max(top, value ?? 0);
    const scale = top > 0 ? (HEIGHT - 4) / top : 0;
    setAttribute(this.#lines[1], "d", path(values, scale, false));
    setAttribute(this.#lines[0], "d", path(second, scale, false));
    setAttribute(this.#area, "d", path(values, scale, true));
    return top;
  }
}

/** A line with a gap wherever a value is not known. */
function path(values, scale, closed) {
  const from = WIDTH - values.length;
  const steps = [];
  let start = -1;
  for (let i = 0; i <= values.length; i++) {
    const value = values[i];
    if (value === null || value === undefined) {
      if (start >= 0 && closed) {
        steps.push(`V${HEIGHT}H${from + start}Z`);
      }
      start = -1;
      continue;
    }
    const y = (HEIGHT - 1 - value * scale).toFixed(1);
    if (start < 0) {
      start = i;
      steps.push(closed ? `M${from + i} ${HEIGHT}V${y}` : `M${from + i} ${y}h.01`);
    } else {
      steps.push(`L${from + i} ${y}`);
    }
  }
  return steps.join("");
}

customElements.define("spark-line", SparkLine);
