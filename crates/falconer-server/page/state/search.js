// Search in what is on this page already: the whole log of the session.

/** @import {Row} from "../types.js" */
/** @import {View} from "./reducer.js" */

/**
 * The rows that contain all words, in order.
 * @param {View} view
 * @param {string} query
 * @returns {Row[]}
 */
export function findRows(view, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  /** @type {Row[]} */
  const found = [];
  walk(view.rows, (row) => {
    const text = textOf(row).toLowerCase();
    if (words.every((word) => text.includes(word))) found.push(row);
  });
  return found;
}

/**
 * @param {Row[]} rows
 * @param {(row: Row) => void} visit
 */
export function walk(rows, visit) {
  for (const row of rows) {
    visit(row);
    walk(row.children, visit);
  }
}

/** Ends of turns and runs repeat what was said already. @param {Row} row */
function textOf(row) {
  if (row.kind === "turn" || row.kind === "run") return String(row.content.failure?.text ?? "");
  const content = row.content ?? {};
  const parts = [content.text, content.title, content.tool, content.result?.text, content.diff?.hunks, content.type];
  if (content.input) parts.push(JSON.stringify(content.input));
  return parts.filter((part) => typeof part === "string").join("\n");
}
