// Words that several rows use.

/** @import {Row} from "../../types.js" */

/** The tools of a group that its title does not count, each once. @param {Row[]} group */
export function otherTools(group) {
  const others = group.filter((row) => row.kind === "action" && (row.content.kind === "tool" || row.content.kind === "note"));
  const names = others.map((row) => String(row.content.tool));
  return [...new Set(names)].slice(0, 5).join(", ");
}

/** @type {Record<string, string>} */
export const STATUS = {
  running: "running",
  waiting: "waiting for an answer",
  queued: "not started",
  ok: "done",
  failed: "failed",
  denied: "denied",
  aborted: "not finished",
};

/** @type {Record<string, string>} */
export const SIGN = { running: "", waiting: "", queued: "", ok: "✓", failed: "✕", denied: "⊘", aborted: "–" };

/** @type {Record<string, string>} */
export const MODE = {
  default: "Ask each time",
  acceptEdits: "Accept edits",
  plan: "Plan",
  dontAsk: "Never ask (deny)",
  auto: "Auto",
  bypassPermissions: "Bypass permissions",
};

/** @param {string | undefined} mode */
export function modeName(mode) {
  return MODE[mode ?? "default"] ?? mode ?? "";
}
