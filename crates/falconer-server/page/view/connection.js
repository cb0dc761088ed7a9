// How the connection is, honestly: live, catching up, reconnecting, stale or offline.

import { amount } from "../state/text.js";
import { h } from "./dom.js";

/** @import {Connection} from "../net/stream.js" */

/**
 * @param {() => Connection} read
 * @param {string} [classes]
 */
export function connectionPill(read, classes = "pill") {
  const text = h("span", {});
  const element = h("span", { class: classes, role: "status" }, h("span", { class: "dot", "aria-hidden": "true" }), text);
  const update = () => {
    const connection = read();
    element.dataset["state"] = connection.state;
    const said = wordsFor(connection, Date.now());
    if (text.textContent !== said) text.textContent = said;
  };
  setInterval(update, 1000);
  update();
  return { element, update };
}

/**
 * @param {Connection} connection
 * @param {number} now
 */
export function wordsFor(connection, now) {
  switch (connection.state) {
    case "live":
      return "Live";
    case "catching":
      return `Catching up (${amount(connection.behind)})`;
    case "reconnecting": {
      const seconds = Math.ceil((connection.at - now) / 1000);
      return seconds > 0 ? `Reconnecting in ${seconds} s` : "Connecting…";
    }
    case "stale":
      return `Stale: silent for ${Math.round((now - connection.since) / 1000)} s`;
    case "offline":
      return "Offline";
  }
}
