// A plan to approve: read it, comment on its parts, then approve it or keep planning.

import { planOf, promptsOf, restOfPlan } from "../state/plan.js";
import { asText, exact, exactLine, visible } from "../state/text.js";
import { cardHead } from "./card_head.js";
import { button, h } from "./dom.js";
import { Guard } from "./guard.js";
import { answerRequest } from "./permission.js";

/** @import {App} from "../state/app.js" */
/** @import {Request} from "../types.js" */

/**
 * @param {App} app
 * @param {Request} request
 * @param {import("./card_head.js").Place} place
 * @returns {HTMLElement}
 */
export function planCard(app, request, place) {
  const text = h("div", { class: "plan-text", tabIndex: 0, role: "group", "aria-label": "The plan" });
  const comments = h("textarea", { rows: 2, placeholder: "Comments. Click a part of the plan to quote it.", "aria-label": "Comments on the plan" });
  text.addEventListener("click", (event) => quote(event.target, text, comments));
  const keep = () => answerRequest(app, request, { type: "deny", message: comments.value.trim() || "Keep planning." });
  const approve = (/** @type {string} */ mode) => answerRequest(app, request, { type: "approve_plan", mode });
  const plan = planOf(request);
  const disabled = !app.may("approve");
  const approvals = [
    button("Approve, accept edits", () => approve("acceptEdits"), { class: "quiet approves", disabled: disabled || plan === null }),
    button("Approve, keep asking", () => approve("default"), { class: "allow", disabled: disabled || plan === null }),
  ];
  const element = h(
    "section",
    { class: "card plan", id: `card-${request.id}`, tabIndex: 0, role: "group", "aria-label": "A plan to approve" },
    cardHead(app, request, place, "Plan", "The agent has a plan"),
    text,
    ...wantsOf(request),
    ...othersOf(request),
    comments,
    h("div", { class: "answers" }, button("Keep planning", keep, { class: "primary", disabled }), h("span", { class: "gap" }), ...approvals),
  );
  if (plan !== null) text.append(...plan.split("\n").map(lineOf));
  else text.append(h("p", { textContent: "The request shows no plan, so it cannot be approved." }));
  new Guard(element);
  return element;
}

/** A line as it is written: rendered, a plan could hide comments and addresses. @param {string} line */
function lineOf(line) {
  return h("p", { class: /^#{1,6} /.test(line) ? "heading" : "", textContent: exact(line) || "\u00a0" });
}

/** What the plan wants to do without asking. @param {Request} request */
function wantsOf(request) {
  const prompts = promptsOf(request);
  if (prompts.length === 0) return [];
  const list = h("pre", { class: "block prompts", tabIndex: 0, role: "group", "aria-label": "Permissions the plan asks for", textContent: prompts.map(exactLine).join("\n") });
  return [h("p", { class: "note", textContent: "It also asks to do these without further approval:" }), list];
}

/** Other fields of the request: an approval covers it. @param {Request} request */
function othersOf(request) {
  const rest = restOfPlan(request);
  if (rest === null) return [];
  return [h("p", { class: "note", textContent: "With:" }), h("pre", { class: "block", tabIndex: 0, role: "group", "aria-label": "Other fields of the request", textContent: exact(asText(rest)) })];
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
