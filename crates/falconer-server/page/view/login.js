// Without a session: how to get in.

import { h } from "./dom.js";

/**
 * @param {string} [problem]
 * @returns {HTMLElement}
 */
export function loginView(problem) {
  return h(
    "main",
    { class: "login" },
    h("h1", { textContent: "Falconer" }),
    problem && h("p", { class: "bad", role: "alert", textContent: problem }),
    h("p", { textContent: "You are not signed in. Open the link that the server printed when it started:" }),
    h("pre", { class: "block command", textContent: "falconer serve" }),
    h("p", { class: "note", textContent: "A link works once and only for a short time. The server prints a new one whenever it starts; nothing here is reachable without it." }),
  );
}
