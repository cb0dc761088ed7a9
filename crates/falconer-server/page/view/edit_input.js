// An editor for what the agent wants to do: the one field that matters, or the whole input.

import { h } from "./dom.js";

/** @import {Request} from "../types.js" */

/** @typedef {{element: HTMLElement, value: () => any, focus: () => void}} Editor */

/**
 * @param {Request} request
 * @returns {Editor}
 */
export function editorFor(request) {
  const field = FIELDS.find((name) => typeof request.input?.[name] === "string");
  const isText = field !== undefined && (field !== "content" || request.tool === "Write");
  return isText ? fieldEditor(request, field) : jsonEditor(request);
}

const FIELDS = ["command", "new_string", "content", "new_source", "url"];

/**
 * @param {Request} request
 * @param {string} field
 * @returns {Editor}
 */
function fieldEditor(request, field) {
  const area = areaOf(request.input[field], `Edit the ${field.replace("_", " ")}`);
  return {
    element: area,
    value: () => ({ ...request.input, [field]: area.value }),
    focus: () => area.focus(),
  };
}

/**
 * @param {Request} request
 * @returns {Editor}
 */
function jsonEditor(request) {
  const area = areaOf(JSON.stringify(request.input, null, 2), "Edit the input, as JSON");
  const problem = h("p", { class: "note bad", role: "alert" });
  return {
    element: h("div", {}, area, problem),
    value: () => {
      try {
        problem.textContent = "";
        return JSON.parse(area.value);
      } catch (error) {
        problem.textContent = `This is not JSON: ${error instanceof Error ? error.message : error}`;
        return null;
      }
    },
    focus: () => area.focus(),
  };
}

/**
 * @param {string} text
 * @param {string} label
 */
function areaOf(text, label) {
  const rows = Math.min(16, Math.max(2, text.split("\n").length + 1));
  return h("textarea", { class: "mono editor", value: text, rows, spellcheck: false, "aria-label": label });
}
