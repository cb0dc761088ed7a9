// What happened while disconnected: a line that says how much, and leads there.

import { button, h } from "./dom.js";

/** @import {App} from "../state/app.js" */

/**
 * @param {App} app
 * @param {(seq: number) => void} show
 */
export function missedLine(app, show) {
  const text = h("span", {});
  const forget = () => {
    app.missed = null;
    update();
  };
  const look = () => {
    const first = (app.missed?.after ?? 0) + 1;
    forget();
    show(first);
  };
  const element = h("div", { class: "missed", role: "status", hidden: true }, text, button("Show", look, { class: "link" }), button("Dismiss", forget, { class: "link" }));
  const update = () => {
    element.hidden = app.missed === null;
    if (app.missed) text.textContent = wordsFor(app.missed);
  };
  return { element, update };
}

/** @param {{count: number, pending: number}} missed */
function wordsFor({ count, pending }) {
  const events = `${count} event${count === 1 ? "" : "s"}`;
  const waiting = pending === 0 ? "" : `; ${pending} request${pending === 1 ? " needs" : "s need"} your answer`;
  return `You missed ${events} while disconnected${waiting}`;
}
