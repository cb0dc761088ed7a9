// Everything that waits for an answer, over all sessions.

import { groupsOfSame } from "../state/requests.js";
import { drawCards } from "./dock.js";
import { h } from "./dom.js";
import { pageHead } from "./page_head.js";

/** @import {App} from "../state/app.js" */

/** @param {App} app */
export function approvalsView(app) {
  const list = h("div", { class: "cards all" });
  const nothing = h("div", { class: "empty" }, h("p", { class: "big", textContent: "Nothing needs your answer" }), h("p", { textContent: "Permission requests, questions and plans from all sessions appear here." }));
  const element = h("section", { class: "page", "aria-label": "Approvals" }, pageHead("Approvals"), nothing, list);
  /** @type {Set<string>} */
  const shown = new Set();
  const update = () => {
    const wanted = [...app.requests.values()].filter((request) => request.state === "pending" || shown.has(request.id));
    for (const request of wanted) shown.add(request.id);
    wanted.sort((one, other) => one.requested_at.localeCompare(other.requested_at));
    nothing.hidden = wanted.length > 0;
    drawCards(app, list, groupsOfSame(wanted), "anywhere");
  };
  return { element, update, reset: () => shown.clear() };
}
