// The head of a card: what kind of thing it is, what it wants, whose it is, how long it waits.

import { nameOf } from "../state/inbox.js";
import { sessionHash } from "../state/route.js";
import { clock, waited } from "../state/text.js";
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
    h("strong", { textContent: title }),
    place === "anywhere" && h("a", { class: "where", href: sessionHash(request.session), title: session?.cwd ?? "", textContent: name }),
    h("span", { class: "when", "data-since": request.requested_at, title: clock(request.requested_at), textContent: waited(request.requested_at) }),
  );
}
