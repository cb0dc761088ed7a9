// Which session needs you most.

/** @import {Request, Session} from "../types.js" */

/** @typedef {"permission" | "question" | "failed" | "interrupted" | "finished" | "running" | "idle" | "closed"} Need */

/** @type {Need[]} */
const ORDER = ["permission", "question", "failed", "interrupted", "finished", "running", "idle", "closed"];

/**
 * @param {Session} session
 * @param {Request[]} pending The open requests of this session.
 * @param {number} seen The last event the user saw of it.
 * @returns {Need}
 */
export function needOf(session, pending, seen) {
  if (pending.some((request) => request.kind === "permission")) return "permission";
  if (pending.length > 0) return "question";
  if (session.state === "waiting") return "permission";
  if (session.state === "running") return "running";
  const last = session.last_turn;
  if (last && last.seq > seen && last.outcome !== "stopped") return troubleOf(session) ?? "finished";
  return session.state === "closed" ? "closed" : "idle";
}

/**
 * How the last turn went wrong, unless somebody wanted it to.
 * @param {Session} session
 * @returns {"failed" | "interrupted" | null}
 */
export function troubleOf(session) {
  const outcome = session.last_turn?.outcome;
  return outcome === "failed" || outcome === "interrupted" ? outcome : null;
}

/**
 * @typedef {object} Listed
 * @property {Session} session
 * @property {Need} need
 * @property {number} pending
 */

/**
 * Sessions, those that need somebody first, then pinned ones, then the newest.
 * @param {Iterable<Session>} sessions
 * @param {Iterable<Request>} requests
 * @param {(session: Session) => number} seen
 * @returns {Listed[]}
 */
export function inbox(sessions, requests, seen) {
  /** @type {Map<string, Request[]>} */
  const open = new Map();
  for (const request of requests) {
    if (request.state !== "pending") continue;
    const list = open.get(request.session) ?? [];
    list.push(request);
    open.set(request.session, list);
  }
  const listed = [...sessions].map((session) => {
    const pending = open.get(session.id) ?? [];
    return { session, need: needOf(session, pending, seen(session)), pending: pending.length };
  });
  return listed.sort(compare);
}

/**
 * @param {Listed} one
 * @param {Listed} other
 */
function compare(one, other) {
  const rank = ORDER.indexOf(one.need) - ORDER.indexOf(other.need);
  if (rank !== 0) return rank;
  const pinned = Number(other.session.pinned ?? false) - Number(one.session.pinned ?? false);
  if (pinned !== 0) return pinned;
  return other.session.updated_at.localeCompare(one.session.updated_at);
}

/** @param {Session} session */
export function nameOf(session) {
  return session.title || session.cwd.split("/").filter(Boolean).pop() || session.id.slice(0, 8);
}
