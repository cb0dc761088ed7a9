// One entry of the timeline: what it shows, and the tools every row has.

import { groupTitle, spanOf } from "../../state/fold.js";
import { duration } from "../../state/text.js";
import { fill, h, iconButton } from "../dom.js";
import { copyCurl, copyLink, showRaw } from "../raw.js";
import { actionRow } from "./action.js";
import { otherTools } from "./labels.js";
import { messageRow, streamInto } from "./message.js";
import { noticeRow, requestRow, runRow, turnRow, unknownRow } from "./notice.js";
import { promptRow } from "./prompt.js";
import { injectedRow, thoughtRow } from "./thought.js";

/** @import {App} from "../../state/app.js" */
/** @import {Entry} from "../../state/fold.js" */
/** @import {Row} from "../../types.js" */

/**
 * @typedef {object} Drawn What a row consists of.
 * @property {string} label Who or what, for those who do not see the row.
 * @property {HTMLElement} body
 * @property {string} [tone] A class for the whole row.
 */

/**
 * @param {App} app
 * @param {HTMLElement} element
 * @param {Entry} entry
 * @param {() => void} toggle
 */
export function drawEntry(app, element, entry, toggle) {
  if (entry.row && streamInto(element, entry.row)) return;
  const drawn = entry.row ? drawRow(app, entry, entry.row, toggle) : drawGroup(entry, toggle);
  const marks = element.classList.contains("marked") ? " marked" : "";
  element.className = `row depth-${Math.min(entry.depth, 4)} ${drawn.tone ?? ""}${marks}`;
  element.setAttribute("aria-label", drawn.label);
  element.dataset["kind"] = entry.row?.kind ?? "group";
  fill(element, drawn.body, tools(app, entry));
}

/**
 * @param {App} app
 * @param {Entry} entry
 * @param {Row} row
 * @param {() => void} toggle
 * @returns {Drawn}
 */
function drawRow(app, entry, row, toggle) {
  switch (row.kind) {
    case "prompt":
      return promptRow(app, row);
    case "message":
      return messageRow(row);
    case "thought":
      return thoughtRow(row, entry.isOpen, toggle);
    case "injected":
    case "summary":
      return injectedRow(row, entry.isOpen, toggle);
    case "action":
      return actionRow(app, row, entry.isOpen, toggle);
    case "request":
      return requestRow(app, row);
    case "turn":
      return turnRow(row);
    case "run":
      return runRow(row);
    case "notice":
      return noticeRow(row);
    case "unknown":
      return unknownRow(row);
  }
}

/**
 * @param {Entry} entry
 * @param {() => void} toggle
 * @returns {Drawn}
 */
function drawGroup(entry, toggle) {
  const title = groupTitle(entry.group);
  const span = spanOf(entry.group);
  const body = h(
    "button",
    { type: "button", class: "fold", "aria-expanded": String(entry.isOpen), onclick: toggle },
    h("span", { class: "chevron", "aria-hidden": "true", textContent: entry.isOpen ? "▾" : "▸" }),
    h("span", { class: "fold-title", textContent: title }),
    span >= 100 && h("span", { class: "when", textContent: duration(span) }),
    h("span", { class: "fold-names", textContent: otherTools(entry.group) }),
  );
  return { label: `${title}, ${entry.isOpen ? "shown" : "folded"}`, body, tone: "group" };
}

/**
 * Raw JSON, a command for the terminal, and a link.
 * @param {App} app
 * @param {Entry} entry
 */
function tools(app, entry) {
  const seqs = entry.row ? entry.row.seqs : entry.group.flatMap((row) => row.seqs);
  return h(
    "div",
    { class: "row-tools" },
    iconButton("{}", `Raw JSON of event ${entry.seq}`, () => showRaw(app, seqs)),
    iconButton("$", `Copy event ${entry.seq} as curl`, () => copyCurl(app, entry)),
    iconButton("#", `Copy a link to event ${entry.seq}`, () => copyLink(app, entry.seq)),
  );
}
