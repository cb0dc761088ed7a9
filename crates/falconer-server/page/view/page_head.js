// The head of a page that is not a session; on a narrow screen with the way back.

import { h } from "./dom.js";

/** @param {string} title */
export function pageHead(title) {
  return h("header", { class: "page-head" }, h("a", { class: "back icon", href: "#", "aria-label": "Back to sessions", textContent: "←" }), h("h1", { textContent: title }));
}
