// How far the user has read each session; kept in the browser.

/** @import {Session} from "../types.js" */

const PLACE = "falconer.seen";

export function seenSessions() {
  /** @type {{since: string, heads: Record<string, number>}} */
  const kept = read() ?? { since: new Date().toISOString(), heads: {} };
  return {
    /** What was there before the first visit counts as read. @param {Session} session */
    of(session) {
      const head = kept.heads[session.id];
      if (head !== undefined) return head;
      return session.updated_at <= kept.since ? session.head : 0;
    },
    /** @param {string} session @param {number} head */
    mark(session, head) {
      if ((kept.heads[session] ?? -1) >= head) return;
      kept.heads[session] = head;
      write(kept);
    },
  };
}

/** @returns {{since: string, heads: Record<string, number>} | null} */
function read() {
  try {
    const value = JSON.parse(localStorage.getItem(PLACE) ?? "null");
    return value && typeof value.since === "string" && typeof value.heads === "object" ? value : null;
  } catch {
    return null;
  }
}

/** @param {object} value */
function write(value) {
  try {
    localStorage.setItem(PLACE, JSON.stringify(value));
  } catch {
    // A browser that keeps nothing shows everything as new; that is all.
  }
}
