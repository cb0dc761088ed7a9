// What the agents of other sessions said last. Their logs are not on this page: the end of one is
// read when somebody has to decide about it.

import { lastMessage, lastSentence } from "../state/last_words.js";
import { api } from "./api.js";

/** @import {App} from "../state/app.js" */
/** @import {Session} from "../types.js" */

/** So many events from the end; what was said before those is no context any more. */
const TAIL = 100;
const AT_ONCE = 2;
const MOST_WAITING = 40;

/** What is known, and how far the session was then. @type {Map<string, {head: number, text: string}>} */
const known = new Map();
/** @type {Map<string, Session>} */
const wanted = new Map();
let running = 0;

/**
 * The last sentence, or nothing until it is known.
 * @param {App} app
 * @param {Session} session
 * @returns {string}
 */
export function lastWords(app, session) {
  if (session.id === app.session && app.view.last !== "") return lastSentence(app.view.last);
  const before = known.get(session.id);
  if ((!before || before.head !== session.head) && session.head > 0) {
    if (wanted.size < MOST_WAITING) wanted.set(session.id, session);
    next(app);
  }
  return before?.text ?? "";
}

/** @param {App} app */
async function next(app) {
  const first = wanted.values().next();
  if (first.done || running >= AT_ONCE) return;
  const session = first.value;
  wanted.delete(session.id);
  running += 1;
  // Known from now on, also if it fails: a server in trouble is not asked again and again.
  known.set(session.id, { head: session.head, text: known.get(session.id)?.text ?? "" });
  try {
    const { events } = await api.tail(session.id, session.head, TAIL);
    known.set(session.id, { head: session.head, text: lastMessage(events) });
    app.touch("sessions");
    app.touch("requests");
  } catch {
    // The line stays as it was.
  }
  running -= 1;
  next(app);
}
