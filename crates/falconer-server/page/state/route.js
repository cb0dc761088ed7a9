// Addresses: `#s/SESSION`, `#s/SESSION/SEQ`, `#approvals`, `#rules`, `#new`, or nothing.

/**
 * @typedef {{view: "session", session: string, seq: number | null} | {view: "home" | "approvals" | "rules" | "new"}} Route
 */

/**
 * @param {string} hash
 * @returns {Route}
 */
export function parseRoute(hash) {
  const [first, second, third] = hash.replace(/^#/, "").split("/");
  if (first === "s" && second) {
    const seq = Number(third);
    return { view: "session", session: decode(second), seq: third && Number.isInteger(seq) && seq > 0 ? seq : null };
  }
  if (first === "approvals" || first === "rules" || first === "new") return { view: first };
  return { view: "home" };
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * @param {string} session
 * @param {number} [seq]
 */
export function sessionHash(session, seq) {
  const base = `#s/${encodeURIComponent(session)}`;
  return seq ? `${base}/${seq}` : base;
}

/**
 * The one-time code of a link, if the address has one.
 * @param {string} hash
 */
export function codeIn(hash) {
  return hash.startsWith("#code=") ? hash.slice("#code=".length) : null;
}
