// Below the timeline: what waits for an answer, what is queued, and where one writes.

import { groupsOfSame } from "../state/requests.js";
import { updateContext } from "./card_head.js";
import { Composer } from "./composer.js";
import { button, h, keyed } from "./dom.js";
import { elicitationForm } from "./elicitation.js";
import { permissionCard, updatePermissionCard } from "./permission.js";
import { planCard } from "./plan.js";
import { questionForm } from "./question.js";
import { queueItem } from "./queue.js";

/** @import {App} from "../state/app.js" */
/** @import {Request} from "../types.js" */

/** How long a card says who answered it, if it was somebody else. */
const LINGER_MS = 8000;

export class Dock {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** Cards that were open on this page. @type {Set<string>} */
    this.shown = new Set();
    this.cards = h("div", { class: "cards" });
    this.queue = h("ul", { class: "queue", "aria-label": "Queued messages" });
    this.composer = new Composer(app);
    this.element = h("div", { class: "dock" }, this.cards, this.queue, this.composer.element);
  }

  reset() {
    this.shown.clear();
    this.cards.replaceChildren();
    this.composer.reset();
  }

  update() {
    const { app } = this;
    const session = app.session;
    if (session === null) return;
    const groups = groupsOfSame(this.wanted(session));
    drawCards(app, this.cards, groups, "here");
    const hasForm = groups.some((group) => group[0]?.state === "pending" && (group[0].kind === "choice" || group[0].kind === "elicitation"));
    this.composer.element.hidden = hasForm;
    keyed(this.queue, [...app.view.queue.values()], (row) => row.key, (row) => queueItem(app, row, (text) => this.composer.put(text)));
    this.queue.hidden = app.view.queue.size === 0;
    this.composer.update();
  }

  /** Open requests, and those that were open here until somebody else answered. @param {string} session */
  wanted(session) {
    const { app } = this;
    const out = [...app.requests.values()].filter((request) => {
      if (request.session !== session) return false;
      if (request.state === "pending") return true;
      return this.shown.has(request.id) && !app.answeredHere.has(request.id);
    });
    for (const request of out) {
      if (request.state === "pending") this.shown.add(request.id);
      else this.forget(request.id);
    }
    return out;
  }

  /** @param {string} id */
  forget(id) {
    setTimeout(() => {
      if (this.shown.delete(id)) this.app.touch("requests");
    }, LINGER_MS);
  }
}

/**
 * @param {App} app
 * @param {HTMLElement} parent
 * @param {Request[][]} groups
 * @param {import("./card_head.js").Place} place
 */
export function drawCards(app, parent, groups, place) {
  const keyOf = (/** @type {Request[]} */ group) => `${group[0]?.id} ${group[0]?.digest}`;
  keyed(parent, groups, keyOf, (group) => cardOf(app, group, place), (element, group) => refresh(app, element, group));
}

/**
 * @param {App} app
 * @param {Request[]} group
 * @param {import("./card_head.js").Place} place
 */
function cardOf(app, group, place) {
  const request = /** @type {Request} */ (group[0]);
  switch (request.kind) {
    case "permission":
      return permissionCard(app, group, place);
    case "choice":
      return questionForm(app, request, place);
    case "plan":
      return planCard(app, request, place);
    case "elicitation":
      return elicitationForm(app, request, place);
  }
}

/**
 * @param {App} app
 * @param {HTMLElement} element
 * @param {Request[]} group
 */
function refresh(app, element, group) {
  updateContext(app, element);
  const request = /** @type {Request} */ (group[0]);
  if (request.kind === "permission") return updatePermissionCard(element, group);
  if (request.state === "pending" || element.classList.contains("settled")) return;
  element.classList.add("settled");
  const by = request.decision?.by ?? "";
  const text = request.state === "expired" ? "Nobody answered in time." : `Answered by ${by || "someone else"}.`;
  element.replaceChildren(h("p", { class: "outcome", textContent: text }), button("Dismiss", () => element.remove(), { class: "link" }));
  app.touch("view");
}
