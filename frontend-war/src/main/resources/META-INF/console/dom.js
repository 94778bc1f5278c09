// Elements are made from names and texts only: whatever a model, a worker or a client has named stays text.

const SVG = "http://www.w3.org/2000/svg";

/** Makes an element. Attributes that are null or false are left out; functions become listeners of the event they are named for. */
export function h(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same of SVG. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name, value);
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Sets a text, unless it is there already: an unchanged page costs nothing. */
export function setText(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

export function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== value) {
    element.setAttribute(name, value);
  }
}

/**
 * Keeps one child per item, in the order of the items; children of items that stay are updated in place, so that focus and scroll
 * positions stay, too.
 *
 * @param key of an item, a text
 * @param make makes the child of an item; it is updated right after
 */
export function keyed(parent, items, key, make, update) {
  const known = parent.keyedChildren ?? (parent.keyedChildren = new Map());
  const wanted = new Set();
  let place = parent.firstElementChild;
  for (const item of items) {
    const id = key(item);
    wanted.add(id);
    let child = known.get(id);
    if (!child) {
      child = make(item);
      known.set(id, child);
    }
    if (child === place) {
      place = place.nextElementSibling;
    } else {
      parent.insertBefore(child, place);
    }
    update(child, item);
  }
  for (const [id, child] of known) {
    if (!wanted.has(id)) {
      child.remove();
      known.delete(id);
    }
  }
}

/** A table with a caption for screen readers, in a region that scrolls by itself. Columns: [title, class, explanation]. */
export function table(caption, columns) {
  const body = h("tbody");
  const head = h(
    "tr",
    {},
    ...columns.map(([title, kind, why]) => h("th", { scope: "col", class: kind ?? null, title: why ?? null }, title)),
  );
  const region = h(
    "div",
    { class: "scroll", role: "region", "aria-label": caption, tabindex: "0" },
    h("table", {}, h("caption", { class: "unseen" }, caption), h("thead", {}, head), body),
  );
  return { region, body };
}

/** A row whose cells are filled later, in the columns' classes. */
export function row(columns) {
  return h("tr", {}, ...columns.map(([, kind], i) => h(i === 0 ? "th" : "td", { class: kind ?? null, scope: i === 0 ? "row" : null })));
}

/** Fetches JSON of this server. An error has the server's own message. */
export async function json(path, signal) {
  const response = await fetch(path, { signal, headers: { accept: "application/json" } });
  if (!response.ok) {
    throw new Error(await reason(response));
  }
  return response.json();
}

/** The message of an error answer. */
export async function reason(response) {
  try {
    const body = await response.json();
    return body.error?.message ?? body.message ?? `The server answered ${response.status}.`;
  } catch {
    return `The server answered ${response.status}.`;
  }
}
