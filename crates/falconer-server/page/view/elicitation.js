// A form an MCP server asks for, from its schema.

import { visible } from "../state/text.js";
import { cardHead } from "./card_head.js";
import { button, h } from "./dom.js";
import { Guard } from "./guard.js";
import { answerRequest } from "./permission.js";
import { addressOf } from "./subject.js";

/** @import {App} from "../state/app.js" */
/** @import {Request} from "../types.js" */

/**
 * @param {App} app
 * @param {Request} request
 * @param {import("./card_head.js").Place} place
 * @returns {HTMLElement}
 */
export function elicitationForm(app, request, place) {
  const asked = request.input ?? {};
  const schema = asked.requestedSchema ?? asked.requested_schema ?? asked.schema ?? {};
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const fields = Object.entries(schema.properties ?? {}).map(([name, about]) => fieldOf(name, /** @type {any} */ (about), required.has(name)));
  const form = h("form", { class: "card question", id: `card-${request.id}`, tabIndex: -1, "aria-label": "A form of an MCP server" });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const values = fields.map((field) => [field.name, field.value()]).filter(([, value]) => value !== undefined);
    answerRequest(app, request, { type: "form", fields: Object.fromEntries(values) });
  });
  const server = asked.serverName ?? asked.server_name ?? asked.mcp_server_name ?? "An MCP server";
  form.append(
    cardHead(app, request, place, "Form", visible(`${server} asks`)),
    h("p", { class: "asked", textContent: visible(String(asked.message ?? "")) }),
    // Never opened by itself: it is an address of a stranger, to be read first.
    typeof asked.url === "string" ? addressOf(asked.url) : "",
    h("div", { class: "questions" }, ...fields.map((field) => field.element)),
    h(
      "div",
      { class: "answers" },
      button("Decline to answer", () => answerRequest(app, request, { type: "deny", message: "The user declined to answer." }), { class: "quiet" }),
      h("span", { class: "gap" }),
      h("button", { type: "submit", class: "primary", textContent: "Answer", disabled: !app.may("approve") }),
    ),
  );
  new Guard(form);
  return form;
}

/**
 * @param {string} name
 * @param {any} about
 * @param {boolean} isRequired
 */
function fieldOf(name, about, isRequired) {
  const label = visible(String(about?.title ?? name));
  const input = inputFor(about, isRequired);
  const element = h("label", { class: "field" }, h("span", { textContent: label + (isRequired ? " *" : "") }), input, about?.description && h("small", { textContent: visible(String(about.description)) }));
  const value = () => {
    if (input instanceof HTMLInputElement && input.type === "checkbox") return input.checked;
    if (input.value === "") return undefined;
    return about?.type === "number" || about?.type === "integer" ? Number(input.value) : input.value;
  };
  return { name, element, value };
}

/**
 * @param {any} about
 * @param {boolean} required
 */
function inputFor(about, required) {
  if (Array.isArray(about?.enum)) {
    const options = about.enum.map((/** @type {unknown} */ value) => h("option", { value: String(value), textContent: visible(String(value)) }));
    const none = !required && about.default === undefined && h("option", { value: "", textContent: "—" });
    return h("select", { required }, none, ...options);
  }
  if (about?.type === "boolean") return h("input", { type: "checkbox", checked: about.default === true });
  const type = about?.type === "number" || about?.type === "integer" ? "number" : "text";
  return h("input", { type, required, value: about?.default === undefined ? "" : String(about.default) });
}
