// The stored events behind a row, as JSON, as a command, as a link.

import { api } from "../net/api.js";
import { sessionHash } from "../state/route.js";
import { button, h } from "./dom.js";
import { openDialog } from "./dialog.js";
import { toast } from "./toast.js";

/** @import {App} from "../state/app.js" */
/** @import {Entry} from "../state/fold.js" */

const MOST_SHOWN = 20;

/**
 * @param {App} app
 * @param {number[]} seqs
 */
export async function showRaw(app, seqs) {
  const session = app.session;
  if (session === null) return;
  const text = h("pre", { class: "raw", tabIndex: 0, role: "region", "aria-label": "Stored events", textContent: "Loading…" });
  const copy = button("Copy", () => copyText(text.textContent ?? "", "JSON copied"), { class: "quiet" });
  openDialog("Stored events", h("div", {}, text, h("div", { class: "buttons" }, copy)));
  try {
    const events = await Promise.all(seqs.slice(0, MOST_SHOWN).map((seq) => api.event(session, seq)));
    const more = seqs.length > MOST_SHOWN ? `\n\n… and ${seqs.length - MOST_SHOWN} more` : "";
    text.textContent = events.map((event) => JSON.stringify(event, null, 2)).join("\n\n") + more;
  } catch (error) {
    text.textContent = String(error);
  }
}

/**
 * The call that made a row, or the one that reads it.
 * @param {App} app
 * @param {Entry} entry
 */
export function copyCurl(app, entry) {
  copyText(curlOf(location.origin, app.session ?? "", entry), "Command copied; put your token into FALCONER_TOKEN");
}

/**
 * @param {string} origin
 * @param {string} session
 * @param {Entry} entry
 */
export function curlOf(origin, session, entry) {
  const base = `${origin}/v1/sessions/${encodeURIComponent(session)}`;
  const auth = '-H "Authorization: Bearer $FALCONER_TOKEN"';
  const row = entry.row;
  if (row?.kind === "prompt") {
    const body = JSON.stringify({ client_msg_id: crypto.randomUUID(), text: row.content.text, delivery: row.content.delivery ?? "queue" });
    return `curl ${auth} -H "Content-Type: application/json" --data ${quoted(body)} ${quoted(`${base}/messages`)}`;
  }
  return `curl ${auth} ${quoted(`${base}/events?after=${entry.seq - 1}&limit=${Math.max(1, row?.seqs.length ?? entry.group.length)}`)}`;
}

/** @param {string} text */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * @param {App} app
 * @param {number} seq
 */
export function copyLink(app, seq) {
  const hash = sessionHash(app.session ?? "", seq);
  history.replaceState(null, "", hash);
  copyText(`${location.origin}${location.pathname}${hash}`, `Link to event ${seq} copied`);
}

/**
 * @param {string} text
 * @param {string} said
 */
export async function copyText(text, said) {
  try {
    await navigator.clipboard.writeText(text);
    toast(said);
  } catch {
    openDialog("Copy this", h("textarea", { class: "raw", readOnly: true, value: text, "aria-label": "Text to copy" }));
  }
}
