// Text of strangers, made safe to look at: what would be invisible or would move other text is
// replaced by something one can see.

const INVISIBLE = new RegExp(
  [
    "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]",
    "[\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u061c\\ufeff\\u00ad\\u034f\\u180b-\\u180f]",
    "[\\u115f\\u1160\\u17b4\\u17b5\\u2800\\u3164\\uffa0\\ufff0-\\ufffc]",
    "[\\u{13430}-\\u{1345f}\\u{1bca0}-\\u{1bca3}\\u{1d159}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]",
  ].join("|"),
  "gu",
);

/** @type {Record<number, string>} */
const NAMES = { 0: "NUL", 7: "BEL", 8: "BS", 12: "FF", 13: "CR", 27: "ESC", 127: "DEL" };

/**
 * Control characters by their names, what changes the direction or hides by its code. Fonts have
 * no pictures for them.
 * @param {string} text
 * @returns {string}
 */
export function visible(text) {
  return named(text.replace(/\r\n/g, "\n"), INVISIBLE);
}

/**
 * What somebody is to approve: ends of lines as they are; what is not seen, or looks like something
 * else, by its name.
 * @param {string} text
 */
export function exact(text) {
  const words = named(text, OURS).replace(WORD, (word) => (/[A-Za-z]/.test(word) ? named(word, LOOKALIKE) : word));
  return named(named(named(words, INVISIBLE), BLANK), MARKS)
    .replace(/\t/g, "→\t")
    .replace(/ +$/gm, (blanks) => (blanks.length === 1 ? "⟨SP⟩" : `⟨SP×${blanks.length}⟩`));
}

/** The same on one line. @param {string} text */
export function exactLine(text) {
  return exact(text).replace(/\n/g, "⟨LF⟩");
}

/** Blanks that are not the space, letters of a font's own, pictures chosen by a mark. */
const BLANK = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\ufe00-\ufe0f\ue000-\uf8ff\u{f0000}-\u{10ffff}]/gu;
/** What names are made of here, and what a tab looks like. */
const OURS = /[⟨⟩]|→(?=\t)/gu;
/** Marks without a letter, and so many of them that they cover their neighbours. */
const MARKS = /(?<=^|\n)\p{M}|(?<=\p{M}{3})\p{M}/gu;
const WORD = /[\p{L}\p{N}]+/gu;
/** Letters of scripts that share shapes with the Latin one. */
const LOOKALIKE =
  /[\u0370-\u058f\u13a0-\u13ff\u1c80-\u1c8f\u1f00-\u1fff\u2100-\u218f\u2c80-\u2cff\u2de0-\u2dff\ua4d0-\ua4ff\ua640-\ua69f\uab30-\uabbf\uff00-\uff5e\u{10280}-\u{1031f}\u{10400}-\u{1044f}\u{118a0}-\u{118ff}\u{1d400}-\u{1d7ff}]/gu;

/**
 * @param {string} text
 * @param {RegExp} letters
 */
function named(text, letters) {
  return text.replace(letters, (letter) => {
    const code = letter.codePointAt(0) ?? 0;
    return `⟨${NAMES[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`}⟩`;
  });
}

/**
 * @param {unknown} value
 * @returns {string}
 */
export function asText(value) {
  if (typeof value === "string") return value;
  return JSON.stringify(value, null, 2) ?? "";
}

/** @param {number} ms */
export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${Math.round(ms / 100) / 10} s`;
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/**
 * How long something has waited.
 * @param {string} since
 * @param {number} [now]
 */
export function waited(since, now = Date.now()) {
  const ms = now - Date.parse(since);
  return Number.isNaN(ms) ? "" : `waiting ${duration(Math.max(1000, Math.floor(ms / 1000) * 1000))}`;
}

/** @param {number} count */
export function amount(count) {
  if (count < 1000) return String(count);
  if (count < 10_000) return `${(count / 1000).toFixed(1)}k`;
  if (count < 1_000_000) return `${Math.round(count / 1000)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** @param {number} usd */
export function money(usd) {
  if (usd === 0) return "$0";
  return usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/**
 * The time of day, or the day if it was another one.
 * @param {string} time
 * @param {Date} [now]
 */
export function clock(time, now = new Date()) {
  const then = new Date(time);
  if (Number.isNaN(then.getTime())) return "";
  const sameDay = then.toDateString() === now.toDateString();
  return sameDay
    ? then.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
    : then.toLocaleDateString([], { month: "short", day: "numeric" });
}
