// What the timeline shows: rows, with finished tool calls folded into one line. Failures never are.

/** @import {Row} from "../types.js" */
/** @import {View} from "./reducer.js" */

/**
 * @typedef {object} Entry One thing on the screen.
 * @property {string} key
 * @property {number} seq
 * @property {number} depth How many sub-agents it is in.
 * @property {Row | null} row
 * @property {Row[]} group The rows that are folded here.
 * @property {boolean} isOpen Whether what is folded is shown.
 * @property {string} stamp Different whenever it must be drawn again.
 */

/**
 * @param {View} view
 * @param {(key: string, standard: boolean) => boolean} isOpen What the user opened or closed.
 * @returns {Entry[]}
 */
export function entriesOf(view, isOpen) {
  /** @type {Entry[]} */
  const out = [];
  unfold(view, view.rows, 0, isOpen, out);
  return out;
}

/**
 * @param {View} view
 * @param {Row[]} rows
 * @param {number} depth
 * @param {(key: string, standard: boolean) => boolean} isOpen
 * @param {Entry[]} out
 */
function unfold(view, rows, depth, isOpen, out) {
  let at = 0;
  while (at < rows.length) {
    const end = endOfFold(view, rows, at);
    const folded = rows.slice(at, end);
    if (folded.filter((row) => row.kind === "action").length >= 2) {
      const first = /** @type {Row} */ (folded[0]);
      const key = `group:${first.key}`;
      const open = isOpen(key, false);
      out.push(groupEntry(key, folded, depth, open));
      if (open) for (const row of folded) out.push(rowEntry(row, depth + 1, isOpen));
      at = end;
      continue;
    }
    const stop = Math.max(end, at + 1);
    for (; at < stop; at += 1) {
      const row = rows[at];
      if (row) showRow(view, row, depth, isOpen, out);
    }
  }
}

/**
 * @param {View} view
 * @param {Row} row
 * @param {number} depth
 * @param {(key: string, standard: boolean) => boolean} isOpen
 * @param {Entry[]} out
 */
function showRow(view, row, depth, isOpen, out) {
  const entry = rowEntry(row, depth, isOpen);
  out.push(entry);
  if (row.children.length === 0) return;
  if (entry.isOpen) {
    unfold(view, row.children, depth + 1, isOpen, out);
    return;
  }
  for (const child of row.children) {
    if (hasFailed(child)) showRow(view, child, depth + 1, isOpen, out);
  }
}

/**
 * @param {Row} row
 * @param {number} depth
 * @param {(key: string, standard: boolean) => boolean} isOpen
 * @returns {Entry}
 */
function rowEntry(row, depth, isOpen) {
  const open = isOpen(row.key, opensByItself(row));
  const stamp = `${row.version} ${open} ${depth}`;
  return { key: row.key, seq: row.seq, depth, row, group: [], isOpen: open, stamp };
}

/**
 * @param {string} key
 * @param {Row[]} group
 * @param {number} depth
 * @param {boolean} open
 * @returns {Entry}
 */
function groupEntry(key, group, depth, open) {
  const versions = group.reduce((sum, row) => sum + row.version, 0);
  const first = /** @type {Row} */ (group[0]);
  const stamp = `${group.length} ${versions} ${open} ${depth}`;
  return { key, seq: first.seq, depth, row: null, group, isOpen: open, stamp };
}

/** A sub-agent at work and a call that failed explain themselves. @param {Row} row */
function opensByItself(row) {
  if (row.kind !== "action") return false;
  return (isSubagent(row) && row.open) || hasFailed(row);
}

/** @param {Row} row */
export function isSubagent(row) {
  return row.kind === "action" && (row.content.kind === "subagent" || row.children.length > 0);
}

/** @param {Row} row */
export function hasFailed(row) {
  if (row.kind === "action") return row.content.status === "failed" || row.content.status === "denied";
  return row.kind === "turn" && !row.content.ok;
}

/**
 * Where a run of rows ends that may be folded.
 * @param {View} view
 * @param {Row[]} rows
 * @param {number} start
 */
function endOfFold(view, rows, start) {
  let end = start;
  for (let at = start; at < rows.length; at += 1) {
    const row = /** @type {Row} */ (rows[at]);
    if (row.kind === "action" && isQuiet(view, row)) end = at + 1;
    else if (row.kind !== "thought" || row.open) break;
  }
  return end;
}

/**
 * Whether nothing about a call is worth a line of its own.
 * @param {View} view
 * @param {Row} row
 */
function isQuiet(view, row) {
  if (row.open || isSubagent(row) || row.content.status !== "ok") return false;
  return row.requests.every((id) => {
    const resolved = view.requests.get(id)?.resolved;
    return resolved?.resolution === "allowed" && resolved.edited === undefined;
  });
}

/**
 * `7 tools · 3 edits · 41 s`.
 * @param {Row[]} group
 */
export function groupTitle(group) {
  const actions = group.filter((row) => row.kind === "action");
  const count = (/** @type {string} */ kind) => actions.filter((row) => row.content.kind === kind).length;
  const parts = [`${actions.length} tools`];
  for (const [kind, one, many] of KINDS) {
    const n = count(kind);
    if (n > 0) parts.push(`${n} ${n === 1 ? one : many}`);
  }
  return parts.join(" · ");
}

/** @type {[string, string, string][]} */
const KINDS = [
  ["command", "command", "commands"],
  ["file_change", "edit", "edits"],
  ["web_search", "web request", "web requests"],
  ["mcp", "MCP call", "MCP calls"],
];

/** Milliseconds from the first to the last event of some rows. @param {Row[]} group */
export function spanOf(group) {
  const first = group[0];
  const last = group[group.length - 1];
  if (!first || !last) return 0;
  return Math.max(0, Date.parse(last.ended ?? last.time) - Date.parse(first.time));
}
