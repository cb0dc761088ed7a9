// The first thing one sees: what this is, or what to look at.

import { h } from "./dom.js";

/** @import {App} from "../state/app.js" */

/** @param {App} app */
export function homeView(app) {
  const element = h("section", { class: "page home", "aria-label": "Home" });
  let drawn = "";
  const update = () => {
    const kind = !app.isLoaded ? "loading" : app.sessions.size === 0 ? "first" : app.pending().length > 0 ? "pending" : "quiet";
    document.body.toggleAttribute("data-first", kind === "first");
    if (drawn === kind) return;
    drawn = kind;
    element.replaceChildren(kind === "loading" ? h("p", { class: "note", textContent: "Loading…" }) : kind === "first" ? first() : again(kind));
  };
  return { element, update, reset: () => {} };
}

function first() {
  const steps = [
    ["Start a session", "Choose a folder and say what should be done."],
    ["Watch it work", "Everything the agent does is shown as it happens, and kept."],
    ["Decide", "It asks before it changes anything. You see the literal command or change, can edit it, allow it once, turn it into a rule, or deny it."],
  ].map(([name, about]) => h("li", {}, h("strong", { textContent: name }), h("span", { textContent: about })));
  return h(
    "div",
    { class: "empty" },
    h("h2", { class: "big", textContent: "Agents work, you decide" }),
    h("ol", { class: "steps" }, ...steps),
    h("a", { href: "#new", class: "button primary", textContent: "Start the first session" }),
    h("p", { class: "note", textContent: "Press ? for the keys. Everything here works without a mouse." }),
  );
}

/** @param {string} kind */
function again(kind) {
  const words = kind === "pending" ? "An agent needs your answer" : "Choose a session";
  const link = kind === "pending" ? h("a", { href: "#approvals", class: "button primary", textContent: "Review" }) : h("a", { href: "#new", class: "button", textContent: "New session" });
  return h("div", { class: "empty" }, h("h2", { class: "big", textContent: words }), link, h("p", { class: "note", textContent: "Press ? for the keys." }));
}
