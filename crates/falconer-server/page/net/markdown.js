// Markdown becomes HTML on the server. What is visible is asked for together, and only once.

import { api } from "./api.js";

const MOST_KEPT = 400;
const MOST_AT_ONCE = 32;

/** @type {Map<string, string>} */
const kept = new Map();
/** @type {Map<string, ((html: string) => void)[]>} */
const wanted = new Map();
let isScheduled = false;

/**
 * @param {string} text
 * @returns {string | null}
 */
export function rendered(text) {
  return kept.get(text) ?? null;
}

/**
 * @param {string} text
 * @param {(html: string) => void} use
 */
export function render(text, use) {
  const known = kept.get(text);
  if (known !== undefined) return use(known);
  const waiting = wanted.get(text);
  if (waiting) waiting.push(use);
  else wanted.set(text, [use]);
  if (isScheduled) return;
  isScheduled = true;
  setTimeout(askServer, 16);
}

async function askServer() {
  const batch = [...wanted].slice(0, MOST_AT_ONCE);
  for (const [text] of batch) wanted.delete(text);
  try {
    const { html } = await api.render(batch.map(([text]) => text));
    batch.forEach(([text, uses], index) => {
      const made = html[index];
      if (made === undefined) return;
      keep(text, made);
      for (const use of uses) use(made);
    });
  } catch {
    // The plain text stays, and the next look at it asks again.
  }
  isScheduled = wanted.size > 0;
  if (isScheduled) setTimeout(askServer, 16);
}

/**
 * @param {string} text
 * @param {string} html
 */
function keep(text, html) {
  kept.set(text, html);
  const oldest = kept.keys().next();
  if (kept.size > MOST_KEPT && !oldest.done) kept.delete(oldest.value);
}
