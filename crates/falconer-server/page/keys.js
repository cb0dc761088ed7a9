// Keys for everything. None of them answers a request: that takes the focus on its card.

import { isField } from "./view/dom.js";

/**
 * @typedef {object} Commands
 * @property {() => void} help
 * @property {(step: number) => void} session
 * @property {() => void} pending
 * @property {() => void} write
 * @property {() => void} search
 * @property {() => void} stop
 * @property {(step: number) => void} row
 * @property {() => void} open
 * @property {() => void} raw
 * @property {() => void} link
 * @property {() => void} curl
 * @property {() => void} newest
 */

/** A second key counts for this long. */
const CHORD_MS = 1200;

/** @param {Commands} commands */
export function listenToKeys(commands) {
  let chord = 0;
  // The second key of a chord is for nobody else: on a card it would answer.
  addEventListener(
    "keydown",
    (event) => {
      if (chord <= Date.now() || isField(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      chord = 0;
      const place = PLACES[event.key];
      event.stopImmediatePropagation();
      press(event, () => {
        if (place !== undefined) location.hash = place;
      });
    },
    true,
  );
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    if (event.ctrlKey && event.key === ".") return press(event, commands.stop);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") return leave();
    if (isField(event.target) || document.querySelector("dialog[open]")) return;
    if (event.key === "g") {
      chord = Date.now() + CHORD_MS;
      return;
    }
    const command = commandFor(commands, event);
    if (command) press(event, command);
  });
}

/** @type {Record<string, string>} */
const PLACES = { a: "#approvals", r: "#rules", h: "#", i: "#" };

/**
 * @param {KeyboardEvent} event
 * @param {() => void} command
 */
function press(event, command) {
  event.preventDefault();
  command();
}

/** Leaving a field is all Esc ever does here. */
function leave() {
  if (isField(document.activeElement) && document.activeElement instanceof HTMLElement) document.activeElement.blur();
}

/**
 * @param {Commands} commands
 * @param {KeyboardEvent} event
 * @returns {(() => void) | null}
 */
function commandFor(commands, event) {
  switch (event.key) {
    case "?":
      return commands.help;
    case "n":
      return () => (location.hash = "#new");
    case "[":
      return () => commands.session(-1);
    case "]":
      return () => commands.session(1);
    case "p":
      return commands.pending;
    case "c":
      return commands.write;
    case "/":
      return commands.search;
    case "j":
      return () => commands.row(1);
    case "k":
      return () => commands.row(-1);
    case "Enter":
    case "o":
      return event.key === "Enter" && event.target instanceof HTMLElement && event.target.matches("button, a, summary") ? null : commands.open;
    case "r":
      return commands.raw;
    case "y":
      return commands.link;
    case "u":
      return commands.curl;
    case "G":
      return commands.newest;
    default:
      return null;
  }
}
