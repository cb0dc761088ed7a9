// Text while it is written. Deltas are not stored: what is missing comes with the whole item.

/** @import {FalconerEvent, Row} from "../types.js" */
/** @import {View} from "./reducer.js" */

/**
 * Adds what is new of a delta to its row.
 * @param {View} view
 * @param {FalconerEvent} event
 * @returns {Row | null} The row that grew, if one did.
 */
export function applyDelta(view, event) {
  const { id, offset, text } = event.data;
  const row = view.items.get(id);
  if (!row || !row.open || typeof text !== "string") return null;
  const letters = [...text];
  const stream = row.stream;
  const end = stream ? stream.from + stream.length : 0;
  if (!stream || offset > end) {
    row.stream = { from: offset ?? 0, length: letters.length, text };
  } else {
    const fresh = letters.slice(end - offset);
    if (fresh.length === 0) return null;
    stream.text += fresh.join("");
    stream.length += fresh.length;
  }
  row.version += 1;
  return row;
}
