// What an agent said last, short enough for one line.

const LONGEST = 160;

/**
 * The last sentence of a text, without the marks of Markdown.
 * @param {string} text
 * @returns {string}
 */
export function lastSentence(text) {
  const lines = text.replace(/```[\s\S]*?(```|$)/g, "").split("\n");
  const plain = lines.map((line) => line.replace(/^[\s>#*+-]+|^\s*\d+[.)]\s+/g, "").replace(/[*_`]+/g, "").trim());
  const last = plain.filter(Boolean).pop() ?? "";
  const sentence = last.split(/(?<=[.!?…])\s+/).pop() ?? last;
  return sentence.length > LONGEST ? `${sentence.slice(0, LONGEST - 1)}…` : sentence;
}

/**
 * The last message among some events; what a sub-agent said is for its agent, not for people.
 * @param {import("../types.js").FalconerEvent[]} events
 * @returns {string}
 */
export function lastMessage(events) {
  const said = events.findLast((event) => event.type === "item.completed" && !event.parent && event.data.content?.type === "message");
  return said ? lastSentence(String(said.data.content.text ?? "")) : "";
}
