// The head of a card: what kind of thing it is, what it wants, whose it is, how long it waits.

import { lastWords } from "../net/last_words.js";
import { nameOf } from "../state/inbox.js";
import { sessionHash } from "../state/route.js";
import { clock, visible, waited } from "../state/text.js";
import { h } from "./dom.js";

/** @import {App} from "../state/app.js" */
/** @import {Request} from "../types.js" */

/** Where a card is shown: in its session, or among those of all sessions. @typedef {"here" | "anywhere"} Place */

/**
 * @param {App} app
 * @param {Request} request
 * @param {Place} place
 * @param {string} kind
 * @param {string} title
 */
export function cardHead(app, request, place, kind, title) {
  const session = app.sessions.get(request.session);
  const name = session ? nameOf(session) : request.session;
  return h(
    "header",
    {},
    h("span", { class: request.kind === "permission" ? "badge" : "badge amber", textContent: kind }),
    h("strong", { textContent: visible(title) }),
    place === "anywhere" && h("a", { class: "where", href: sessionHash(request.session), title: visible(session?.cwd ?? ""), textContent: visible(name) }),
    h("span", { class: "when", "data-since": request.requested_at, title: clock(request.requested_at), textContent: waited(request.requested_at) }),
    place === "anywhere" && h("p", { class: "context", "data-of": request.session }, ...contextOf(app, request.session)),
  );
}

/**
 * Where it works and what the agent said last: enough to answer without opening the session.
 * @param {App} app
 * @param {string} id
 * @returns {HTMLElement[]}
 */
function contextOf(app, id) {
  const session = app.sessions.get(id);
  if (!session) return [];
  const said = visible(lastWords(app, session));
  const place = h("span", { class: "mono", textContent: visible(session.cwd) });
  return said ? [place, h("span", { class: "said", textContent: `“${said}”` })] : [place];
}

/** Fills in what became known since a card was drawn. @param {App} app @param {HTMLElement} card */
export function updateContext(app, card) {
  const line = card.querySelector(".context");
  if (!(line instanceof HTMLElement)) return;
  const parts = contextOf(app, line.dataset["of"] ?? "");
  const text = parts.map((part) => part.textContent).join("");
  if (line.textContent !== text) line.replaceChildren(...parts);
}
