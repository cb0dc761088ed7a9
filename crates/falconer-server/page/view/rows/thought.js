// Thoughts, and what the engine put into the conversation: one line, and all of it on demand.

import { visible } from "../../state/text.js";
import { h } from "../dom.js";

/** @import {Row} from "../../types.js" */
/** @import {Drawn} from "./entry.js" */

/**
 * @param {Row} row
 * @param {boolean} isOpen
 * @param {() => void} toggle
 * @returns {Drawn}
 */
export function thoughtRow(row, isOpen, toggle) {
  const text = row.stream ? row.stream.text : String(row.content.text ?? "");
  const name = row.open ? "Thinking…" : "Thought";
  return folded(name, text, isOpen, toggle, "thought");
}

/**
 * @param {Row} row
 * @param {boolean} isOpen
 * @param {() => void} toggle
 * @returns {Drawn}
 */
export function injectedRow(row, isOpen, toggle) {
  const name = row.kind === "summary" ? "Summary" : "Added by the engine";
  return folded(name, String(row.content.text ?? ""), isOpen, toggle, "injected");
}

/**
 * @param {string} name
 * @param {string} text
 * @param {boolean} isOpen
 * @param {() => void} toggle
 * @param {string} tone
 * @returns {Drawn}
 */
function folded(name, text, isOpen, toggle, tone) {
  const head = h(
    "button",
    { type: "button", class: "fold", "aria-expanded": String(isOpen), onclick: toggle, disabled: text === "" },
    h("span", { class: "chevron", "aria-hidden": "true", textContent: text === "" ? "·" : isOpen ? "▾" : "▸" }),
    h("span", { class: "fold-title", textContent: name }),
    !isOpen && h("span", { class: "fold-names", textContent: visible(text.slice(0, 200).split("\n")[0] ?? "") }),
  );
  const body = h("div", {}, head);
  if (isOpen) body.append(h("div", { class: "plain thought-text", textContent: visible(text) }));
  return { label: name, body, tone };
}

