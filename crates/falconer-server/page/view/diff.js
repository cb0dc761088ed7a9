// A diff on the screen. Signs are text too, so that colour is never needed to read it.

import { exact, exactLine } from "../state/text.js";
import { h } from "./dom.js";

/** @import {DiffLine} from "../state/diff.js" */

/** @type {Record<DiffLine["sign"], string>} */
const CLASS = { "+": "added", "-": "removed", " ": "same", "@": "hunk" };
const MOST_LINES = 600;

/**
 * @param {string} path
 * @param {DiffLine[]} lines
 */
export function diffBlock(path, lines) {
  const count = (/** @type {string} */ sign) => lines.filter((line) => line.sign === sign).length;
  const head = h(
    "div",
    { class: "diff-head" },
    h("span", { class: "mono path", textContent: exactLine(path) }),
    h("span", { class: "plus", textContent: `+${count("+")}` }),
    h("span", { class: "minus", textContent: `−${count("-")}` }),
  );
  const body = h("pre", { class: "diff", tabIndex: 0, role: "group", "aria-label": `Change of ${path}` });
  const shown = lines.slice(0, MOST_LINES);
  for (const line of shown) body.append(lineOf(line));
  if (lines.length > shown.length) {
    body.append(moreOf(lines, body));
  }
  return h("div", { class: "diff-block" }, head, body);
}

/** @param {DiffLine} line */
function lineOf(line) {
  return h("span", { class: `line ${CLASS[line.sign]}`, textContent: `${line.sign}${exact(line.text)}\n` });
}

/**
 * Nothing is hidden for good: whoever approves a change can see all of it.
 * @param {DiffLine[]} lines
 * @param {HTMLElement} body
 */
function moreOf(lines, body) {
  const rest = lines.length - MOST_LINES;
  const more = h("button", { type: "button", class: "more", textContent: `Show ${rest} more lines` });
  more.addEventListener("click", () => {
    more.remove();
    for (const line of lines.slice(MOST_LINES)) body.append(lineOf(line));
  });
  return more;
}
