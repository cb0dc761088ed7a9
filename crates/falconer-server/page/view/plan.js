// A plan to approve: read it, comment on its parts, then approve it or keep planning.

import { planOf } from "../state/plan.js";
import { emptyView } from "../state/reducer.js";
import { sessionHash } from "../state/route.js";
import { visible } from "../state/text.js";
import { cardHead } from "./card_head.js";
import { button, h } from "./dom.js";
import { answerRequest } from "./permission.js";
import { markdown } from "./rows/message.js";

/** @import {App} from "../state/app.js" */
/** @import {Request} from "../types.js" */

/** Cards, and how each takes what is known now. @type {WeakMap<HTMLElement, () => void>} */
const updates = new WeakMap();

/** @param {HTMLElement} element */
export function updatePlanCard(element) {
  updates.get(element)?.();
}

/**
 * @param {App} app
 * @param {Request} request
 * @param {import("./card_head.js").Place} place
 * @returns {HTMLElement}
 */
export function planCard(app, request, place) {
  const text = h("div", { class: "prose plan-text", tabIndex: 0, role: "region", "aria-label": "The plan" });
  const comments = h("textarea", { rows: 2, placeholder: "Comments. Click a part of the plan to quote it.", "aria-label": "Comments on the plan" });
  text.addEventListener("click", (event) => quote(event.target, text, comments));
  const keep = () => answerRequest(app, request, { type: "deny", message: comments.value.trim() || "Keep planning." });
  const approve = (/** @type {string} */ mode) => answerRequest(app, request, { type: "approve_plan", mode });
  const approvals = [
    button("Approve, accept edits", () => approve("acceptEdits"), { class: "quiet" }),
    button("Approve, keep asking", () => approve("default"), { class: "allow" }),
  ];
  const element = h(
    "section",
    { class: "card plan", id: `card-${request.id}`, tabIndex: 0, role: "group", "aria-label": "A plan to approve" },
    cardHead(app, request, place, "Plan", "The agent has a plan"),
    text,
    comments,
    h("div", { class: "answers" }, button("Keep planning", keep, { class: "primary", disabled: !app.may("approve") }), h("span", { class: "gap" }), ...approvals),
  );
  /** @type {string | null | undefined} */
  let shown;
  const update = () => {
    const view = app.session === request.session ? app.view : emptyView();
    const plan = planOf(view, request);
    if (plan === shown) return;
    shown = plan;
    // Nobody approves what he has not seen.
    for (const approval of approvals) approval.disabled = plan === null || !app.may("approve");
    text.replaceChildren();
    if (plan !== null) markdown(text, plan);
    else text.append(h("a", { href: sessionHash(request.session), textContent: "Open the session to read the plan" }));
  };
  updates.set(element, update);
  update();
  return element;
}

/**
 * @param {EventTarget | null} target
 * @param {HTMLElement} text
 * @param {HTMLTextAreaElement} comments
 */
function quote(target, text, comments) {
  if (!(target instanceof Element) || target.closest("a") || getSelection()?.toString()) return;
  const part = target.closest("li, p, h1, h2, h3, h4, tr, pre");
  if (!part || !text.contains(part)) return;
  const line = visible((part.textContent ?? "").trim().split("\n")[0] ?? "").slice(0, 200);
  comments.value = `${comments.value}${comments.value ? "\n" : ""}> ${line}\n`;
  comments.rows = Math.min(10, comments.value.split("\n").length + 1);
  comments.focus();
}
