// Without a session: how to get in.

import { api } from "../net/api.js";
import { h } from "./dom.js";
import { wordsOf } from "./toast.js";

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
    h("p", { textContent: "You are not signed in. Print a link on the machine of the server, and open it here:" }),
    h("pre", { class: "block command", textContent: "falconer login" }),
    h("p", { class: "note", textContent: "A link works once and only for a short time. Somebody who is signed in can make one, too: Add a device." }),
    tokenForm(),
  );
}

/** A token is traded for a cookie at once, and not kept. */
function tokenForm() {
  const token = h("input", { type: "password", name: "token", autocomplete: "off", placeholder: "flc_…", "aria-label": "Token" });
  const problem = h("p", { class: "bad", role: "alert", hidden: true });
  const form = h("form", { class: "token" }, h("p", { textContent: "Or sign in with a token that has the scope admin:" }), token, h("button", { type: "submit", textContent: "Sign in" }), problem);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    problem.hidden = true;
    try {
      const { path } = await api.codeFor(token.value.trim());
      token.value = "";
      location.hash = path.slice(path.indexOf("#"));
    } catch (error) {
      problem.textContent = wordsOf(error);
      problem.hidden = false;
    }
  });
  return form;
}
