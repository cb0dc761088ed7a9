// Server-sent events, out of the pieces the network delivers.

/** @typedef {{event: string, id: string | null, data: string}} Frame */

/**
 * A reader that is given text and gives back whole frames.
 * @returns {(text: string) => Frame[]}
 */
export function frameReader() {
  let rest = "";
  return (text) => {
    rest += text;
    /** @type {Frame[]} */
    const frames = [];
    for (;;) {
      const end = /\r?\n\r?\n/.exec(rest);
      if (!end) return frames;
      const frame = parseFrame(rest.slice(0, end.index));
      rest = rest.slice(end.index + end[0].length);
      if (frame) frames.push(frame);
    }
  };
}

/**
 * @param {string} block
 * @returns {Frame | null}
 */
function parseFrame(block) {
  let event = "message";
  /** @type {string | null} */
  let id = null;
  /** @type {string[]} */
  const data = [];
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") event = value;
    else if (field === "id") id = value;
    else if (field === "data") data.push(value);
  }
  return data.length > 0 ? { event, id, data: data.join("\n") } : null;
}
