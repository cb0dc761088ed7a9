// What an edit would change, line by line.

/** @typedef {{sign: "+" | "-" | " " | "@", text: string}} DiffLine */

/** More cells than this are not compared: everything old goes, everything new comes. */
const MOST_CELLS = 400_000;

/**
 * @param {string} before
 * @param {string} after
 * @returns {DiffLine[]}
 */
export function diffLines(before, after) {
  const a = linesOf(before);
  const b = linesOf(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return [
    ...a.slice(0, start).map((text) => line(" ", text)),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map((text) => line(" ", text)),
    ...endOf(before, after),
  ];
}

/** A change of the last line break, which no line shows. @param {string} before @param {string} after */
function endOf(before, after) {
  if (before === "" || before.endsWith("\n") === after.endsWith("\n")) return [];
  return [line("@", `the new text ends ${after.endsWith("\n") ? "with" : "without"} a line break`)];
}

/** @param {string} text */
function linesOf(text) {
  if (text === "") return [];
  return text.replace(/\n$/, "").split("\n");
}

/**
 * @param {DiffLine["sign"]} sign
 * @param {string} text
 * @returns {DiffLine}
 */
function line(sign, text) {
  return { sign, text };
}

/**
 * @param {string[]} a
 * @param {string[]} b
 * @returns {DiffLine[]}
 */
function middle(a, b) {
  if (a.length * b.length > MOST_CELLS || a.length === 0 || b.length === 0) {
    return [...a.map((text) => line("-", text)), ...b.map((text) => line("+", text))];
  }
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  const at = (/** @type {number} */ i, /** @type {number} */ j) => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  return walk(a, b, at);
}

/**
 * @param {string[]} a
 * @param {string[]} b
 * @param {(i: number, j: number) => number} at
 * @returns {DiffLine[]}
 */
function walk(a, b, at) {
  /** @type {DiffLine[]} */
  const out = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push(line(" ", a[i] ?? ""));
      i += 1;
      j += 1;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) {
      out.push(line("-", a[i++] ?? ""));
    } else {
      out.push(line("+", b[j++] ?? ""));
    }
  }
  return out;
}

/**
 * The lines of a diff the server made.
 * @param {string} hunks
 * @returns {DiffLine[]}
 */
export function linesOfHunks(hunks) {
  return hunks.split("\n").map((text) => {
    const sign = text[0] ?? " ";
    if (sign === "+" || sign === "-" || sign === " ") return line(sign, text.slice(1));
    return line(sign === "@" ? "@" : " ", text);
  });
}

/**
 * What a call of a file tool would change, if it is one.
 * @param {string | undefined} tool
 * @param {any} input
 * @returns {{path: string, lines: DiffLine[]} | null}
 */
export function diffOfCall(tool, input) {
  const path = String(input?.file_path ?? input?.notebook_path ?? input?.path ?? "");
  switch (tool) {
    case "Write":
      return { path, lines: diffLines("", String(input?.content ?? "")) };
    case "Edit":
      return { path, lines: diffLines(String(input?.old_string ?? ""), String(input?.new_string ?? "")) };
    case "NotebookEdit":
      return { path, lines: diffLines("", String(input?.new_source ?? "")) };
    case "MultiEdit": {
      const edits = Array.isArray(input?.edits) ? input.edits : [];
      const lines = edits.flatMap((/** @type {any} */ edit) => [
        line("@", "edit"),
        ...diffLines(String(edit?.old_string ?? ""), String(edit?.new_string ?? "")),
      ]);
      return { path, lines };
    }
    default:
      return null;
  }
}
