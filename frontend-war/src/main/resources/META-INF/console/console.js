// The frame of the console: shows the view that the address names, and the state of the connection.

import { h, setAttribute, setText } from "./dom.js";
import { Feed } from "./feed.js";
import { count } from "./format.js";
import "./overview.js";
import "./workers.js";
import "./routing.js";
import "./playground.js";
import "./settings.js";
import "./errors.js";

const VIEWS = ["overview", "workers", "routing", "playground", "settings", "errors"];
const CONTACT = {
  connecting: "Connecting",
  live: "Live",
  lost: "No contact; trying again",
  paused: "Paused while hidden",
};

const feed = new Feed();
const main = document.getElementById("content");
const contact = document.getElementById("contact");
const errors = document.getElementById("error-count");
const links = [...document.querySelectorAll("header nav a")];
const waiting = h("p", { class: "empty" }, "Waiting for the first figures.");
const made = new Map(); // views, by name
let shown = null;

function view(name) {
  let element = made.get(name);
  if (!element) {
    element = document.createElement(`console-${name}`);
    element.build(feed);
    made.set(name, element);
  }
  return element;
}

/** A part of the address; as it stands where somebody has typed no valid escape. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function show() {
  const [name, ...rest] = location.hash.slice(1).split("/");
  const wanted = VIEWS.includes(name) ? name : VIEWS[0];
  for (const link of links) {
    if (link.hash === `#${wanted}`) {
      link.setAttribute("aria-current", "page");
    } else {
      link.removeAttribute("aria-current");
    }
  }
  const next = view(wanted);
  if (next !== shown) {
    shown = next;
    document.title = `${wanted[0].toUpperCase()}${wanted.slice(1)} · Dynamo console`;
    scrollTo(0, 0);
  }
  next.open?.(rest.map(decoded).join("/"));
  refresh();
}

/** Shows the view, or that there are no figures yet. Views that live on requests of their own need none. */
function refresh() {
  const needsFigures = Boolean(shown.update);
  const element = needsFigures && !feed.sample ? waiting : shown;
  if (main.lastElementChild !== element) {
    main.replaceChildren(element);
  }
  if (needsFigures && feed.sample) {
    shown.update(feed);
  }
}

function showContact() {
  setText(contact, CONTACT[feed.state]);
  setAttribute(contact, "data-state", feed.state);
  document.body.classList.toggle("stale", feed.state === "lost" || feed.state === "paused");
  if (feed.state === "lost" && !feed.sample) {
    setText(waiting, "The server does not answer. It may have stopped, or too many consoles are open. The page keeps trying.");
  }
}

feed.addEventListener("contact", showContact);
feed.addEventListener("sample", () => {
  const failures = feed.sample.failures;
  errors.hidden = failures === 0;
  setText(errors, count(failures));
  refresh();
});
addEventListener("hashchange", () => {
  show();
  main.focus({ preventScroll: true });
});
show();
feed.start();
