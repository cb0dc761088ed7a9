// What the agent says: plain text while it is written, Markdown when it is complete.

import { render, rendered } from "../../net/markdown.js";
import { visible } from "../../state/text.js";
import { h } from "../dom.js";
import { fromSanitised } from "../sanitised.js";

/** @import {Row} from "../../types.js" */
/** @import {Drawn} from "./entry.js" */

/** Text nodes that grow, and how much of the stream they show. @type {WeakMap<HTMLElement, {node: Text, from: number, shown: number}>} */
const growing = new WeakMap();

/**
 * @param {Row} row
 * @returns {Drawn}
 */
export function messageRow(row) {
  const body = h("div", { class: "message prose" });
  const text = row.stream ? row.stream.text : String(row.content.text ?? "");
  const isWriting = row.open || row.cut;
  if (isWriting) plain(body, row, text);
  else markdown(body, text);
  if (row.cut) body.append(h("p", { class: "note", textContent: "The run ended before this was complete." }));
  return { label: row.open ? "Agent is writing" : "Agent", body, tone: row.open ? "writing" : "" };
}

/**
 * @param {HTMLElement} body
 * @param {Row} row
 * @param {string} text
 */
function plain(body, row, text) {
  const missing = row.stream && row.stream.from > 0 ? "… " : "";
  const node = document.createTextNode(visible(text));
  const place = h("div", { class: "plain" }, missing, node);
  body.append(place);
  growing.set(body, { node, from: row.stream?.from ?? 0, shown: text.length });
}

/**
 * Adds what came since to a row that is being written, without touching the rest of it.
 * @param {HTMLElement} element
 * @param {Row} row
 */
export function streamInto(element, row) {
  const body = element.firstElementChild;
  if (!row.open || !row.stream || !(body instanceof HTMLElement)) return false;
  const place = growing.get(body);
  if (!place || place.from !== row.stream.from) return false;
  const fresh = row.stream.text.slice(place.shown);
  place.shown = row.stream.text.length;
  if (fresh) place.node.appendData(visible(fresh));
  return true;
}

/**
 * @param {HTMLElement} body
 * @param {string} text
 */
export function markdown(body, text) {
  const known = rendered(text);
  if (known !== null) {
    body.append(fromSanitised(known));
    return;
  }
  body.append(h("div", { class: "plain", textContent: visible(text) }));
  render(text, (html) => {
    body.replaceChildren(fromSanitised(html));
  });
}
