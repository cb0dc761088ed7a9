// A tool call: one line, and on demand its input, its change and its result.

import { linesOfHunks } from "../../state/diff.js";
import { isSubagent, spanOf } from "../../state/fold.js";
import { asText, duration, size, visible } from "../../state/text.js";
import { diffBlock } from "../diff.js";
import { h } from "../dom.js";
import { SIGN, STATUS } from "./labels.js";
import { decisionLine } from "./notice.js";
import { isPicture, picture } from "./picture.js";

/** @import {App} from "../../state/app.js" */
/** @import {Action, Picture, Row} from "../../types.js" */
/** @import {Drawn} from "./entry.js" */

/**
 * @param {App} app
 * @param {Row} row
 * @param {boolean} isOpen
 * @param {() => void} toggle
 * @returns {Drawn}
 */
export function actionRow(app, row, isOpen, toggle) {
  /** @type {Action} */
  const action = row.content;
  const status = statusOf(app, row);
  const body = h("div", {}, headOf(row, action, status, isOpen, toggle));
  for (const id of row.requests) body.append(...decisionLine(app, id));
  if (isOpen) body.append(detailOf(row, action));
  const label = `${action.tool}: ${action.title}, ${STATUS[status] ?? status}`;
  return { label, body, tone: `action ${status}${isSubagent(row) ? " subagent" : ""}` };
}

/**
 * A call that nobody allowed does not run, whatever the engine calls it. While something else is
 * asked, a call that was neither asked for nor allowed may be next.
 * @param {App} app
 * @param {Row} row
 */
function statusOf(app, row) {
  if (row.content.status !== "running") return row.content.status;
  if (row.cut) return "aborted";
  const asked = row.requests.map((id) => app.view.requests.get(id)?.resolved ?? null);
  if (asked.includes(null)) return "waiting";
  if (asked.some((resolved) => resolved?.resolution === "allowed")) return "running";
  if (asked.length > 0) return "denied";
  return app.view.open > 0 && row.children.length === 0 ? "queued" : "running";
}

/**
 * @param {Row} row
 * @param {Action} action
 * @param {string} status
 * @param {boolean} isOpen
 * @param {() => void} toggle
 */
function headOf(row, action, status, isOpen, toggle) {
  const sign = h("span", { class: `status ${status}`, title: STATUS[status] ?? status, textContent: SIGN[status] ?? "" });
  return h(
    "button",
    { type: "button", class: "fold", "aria-expanded": String(isOpen), onclick: toggle },
    h("span", { class: "chevron", "aria-hidden": "true", textContent: isOpen ? "▾" : "▸" }),
    h("span", { class: "tool", textContent: isSubagent(row) ? "Sub-agent" : visible(action.tool) }),
    h("span", { class: "title mono", textContent: visible(action.title) }),
    sign,
    h("span", { class: "sr", textContent: STATUS[status] ?? status }),
    h("span", { class: "when", textContent: whenOf(row, status, isOpen) }),
  );
}

/**
 * @param {Row} row
 * @param {string} status
 * @param {boolean} isOpen
 */
function whenOf(row, status, isOpen) {
  const inside = row.children.filter((child) => child.kind === "action").length;
  const steps = inside > 0 && !isOpen ? `${inside} ${inside === 1 ? "step" : "steps"} ` : "";
  const images = isOpen ? 0 : (row.content.images ?? []).length;
  const pictures = images > 0 ? `${images} ${images === 1 ? "image" : "images"} ` : "";
  const span = spanOf([row]);
  return row.open ? `${steps}${status}` : `${steps}${pictures}${span < 100 ? "" : duration(span)}`;
}

/**
 * @param {Row} row
 * @param {Action} action
 */
function detailOf(row, action) {
  const detail = h("div", { class: "detail" });
  if (Array.isArray(action.input?.todos)) detail.append(todos(action.input.todos));
  else if (action.diff?.hunks) detail.append(diffBlock(action.diff.path, linesOfHunks(action.diff.hunks)));
  else detail.append(inputOf(action));
  const result = action.result;
  if (result && result.text) {
    detail.append(block("Result", visible(result.text), action.status === "failed" ? "output bad" : "output"));
    if (result.truncated) {
      detail.append(h("p", { class: "note", textContent: `The first ${result.text.length} of ${result.length} characters` }));
    }
  }
  const images = action.images ?? [];
  if (images.length > 0) detail.append(h("div", { class: "files results" }, ...images.map((image, at) => imageOf(action, image, at))));
  if (row.children.length > 0) detail.append(h("p", { class: "note", textContent: "What it did:" }));
  return detail;
}

/**
 * @param {Action} action
 * @param {Picture} image
 * @param {number} at
 */
function imageOf(action, image, at) {
  const number = (action.images ?? []).length > 1 ? ` ${at + 1}` : "";
  const about = `Image${number} from ${visible(action.tool)} ${visible(action.title)}, ${size(image.bytes)}`;
  if (image.id && isPicture(image.media_type)) return picture(image.id, about);
  return h("span", { class: "file", textContent: `${about}, not kept` });
}

/** @param {Action} action */
function inputOf(action) {
  const input = action.input;
  if (typeof input?.command === "string") return block("Command", visible(input.command), "command");
  if (typeof input?.prompt === "string") return block("Task", visible(input.prompt), "output");
  return block("Input", visible(asText(input)), "output");
}

/**
 * @param {string} name
 * @param {string} text
 * @param {string} classes
 */
function block(name, text, classes) {
  return h("pre", { class: `block ${classes}`, tabIndex: 0, role: "group", "aria-label": name, textContent: text });
}

/** @param {any[]} list */
function todos(list) {
  const items = list.map((todo) => {
    const isDone = todo?.status === "completed";
    const sign = isDone ? "☑" : todo?.status === "in_progress" ? "◐" : "☐";
    return h("li", { class: isDone ? "done" : "", textContent: `${sign} ${visible(String(todo?.content ?? ""))}` });
  });
  return h("ul", { class: "todos" }, ...items);
}
