// Questions from the agent, as a form in place of the composer. Nothing is answered by itself.

import { visible } from "../state/text.js";
import { cardHead } from "./card_head.js";
import { button, h } from "./dom.js";
import { Guard } from "./guard.js";
import { answerRequest } from "./permission.js";

/** @import {App} from "../state/app.js" */
/** @import {Request} from "../types.js" */

/** @typedef {{question: string, header?: string, options?: {label: string, description?: string}[], multiSelect?: boolean}} Question */

/**
 * @param {App} app
 * @param {Request} request
 * @param {import("./card_head.js").Place} place
 * @returns {HTMLElement}
 */
export function questionForm(app, request, place) {
  /** @type {Question[]} */
  const questions = Array.isArray(request.input?.questions) ? request.input.questions : [];
  const fields = questions.map((question, index) => fieldOf(request, question, index));
  const preview = h("p", { class: "note", role: "status" });
  const send = h("button", { type: "submit", class: "primary", textContent: "Answer" });
  const read = () => Object.fromEntries(fields.map((field) => [field.question, field.value()]));
  const check = () => {
    const missing = fields.filter((field) => field.value().length === 0).length;
    send.disabled = missing > 0 || !app.may("approve");
    preview.textContent = missing > 0 ? `${missing} of ${fields.length} still to answer` : `Sends: ${fields.map((field) => field.value().join(", ")).join(" · ")}`;
  };
  const form = h("form", { class: "card question", id: `card-${request.id}`, tabIndex: -1, "aria-label": "Questions from the agent", oninput: check });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    answerRequest(app, request, { type: "choices", answers: read() });
  });
  const skip = button("Decline to answer", () => answerRequest(app, request, { type: "deny", message: "The user declined to answer." }), { class: "quiet" });
  form.append(
    cardHead(app, request, place, "Question", "The agent asks"),
    h("div", { class: "questions" }, ...fields.map((field) => field.element)),
    h("div", { class: "answers" }, skip, preview, h("span", { class: "gap" }), send),
  );
  check();
  new Guard(form);
  return form;
}

/**
 * @param {Request} request
 * @param {Question} question
 * @param {number} index
 */
function fieldOf(request, question, index) {
  const type = question.multiSelect ? "checkbox" : "radio";
  const name = `question-${request.id}-${index}`;
  const other = h("input", { type: "text", class: "other", placeholder: "Something else…", "aria-label": `Another answer to: ${question.question}` });
  const choices = (question.options ?? []).map((option) => h("input", { type, name, value: option.label }));
  const otherChoice = h("input", { type, name, value: "", "aria-label": "Something else" });
  other.addEventListener("input", () => {
    otherChoice.checked = other.value.trim() !== "";
  });
  const options = (question.options ?? []).map((option, at) =>
    h(
      "label",
      { class: "option" },
      choices[at],
      h("span", { class: "option-text" }, h("span", { textContent: visible(option.label) }), option.description && h("small", { textContent: visible(option.description) })),
    ),
  );
  const element = h(
    "fieldset",
    {},
    h("legend", {}, question.header && h("span", { class: "chip", textContent: visible(question.header) }), ` ${visible(question.question)}`),
    h("div", { class: "options" }, ...options, h("div", { class: "option" }, otherChoice, other)),
  );
  const value = () => {
    const chosen = choices.filter((choice) => choice.checked).map((choice) => choice.value);
    const own = other.value.trim();
    return otherChoice.checked && own ? [...chosen, own] : chosen;
  };
  return { question: question.question, element, value };
}
