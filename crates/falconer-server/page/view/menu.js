// What else can be done with a session.

import { api } from "../net/api.js";
import { nameOf } from "../state/inbox.js";
import { sessionHash } from "../state/route.js";
import { openDialog } from "./dialog.js";
import { button, h } from "./dom.js";
import { attempt } from "./toast.js";

/** @import {App} from "../state/app.js" */
/** @import {Session} from "../types.js" */

/** @param {App} app */
export function sessionMenu(app) {
  const session = app.current();
  if (!session) return;
  const address = `/v1/sessions/${encodeURIComponent(session.id)}/export`;
  const list = h("div", { class: "menu" });
  const dialog = openDialog(nameOf(session), list, "narrow");
  const item = (/** @type {string} */ name, /** @type {() => Promise<unknown>} */ work) =>
    button(name, () => {
      dialog.close();
      attempt(work());
    });
  const change = (/** @type {object} */ wish) => async () => keep(app, await api.change(session.id, wish));
  list.append(
    renameForm(app, session, dialog),
    item(session.pinned ? "Unpin" : "Pin", change({ pinned: !session.pinned })),
    item(session.archived ? "Unarchive" : "Archive", change({ archived: !session.archived })),
    item("Fork from here", async () => {
      const copy = await api.fork(session.id, 0);
      keep(app, copy);
      location.hash = sessionHash(copy.id);
    }),
    session.state === "closed" || session.state === "interrupted" || session.state === "idle" ? item("Resume", () => api.resume(session.id)) : item("Close", () => api.close(session.id)),
    h("a", { href: `${address}?format=markdown`, download: `${session.id}.md`, textContent: "Export as Markdown" }),
    h("a", { href: `${address}?format=jsonl`, download: `${session.id}.jsonl`, textContent: "Export as JSON lines" }),
    button("Delete…", () => confirmDelete(app, session, dialog), { class: "bad" }),
    h("p", { class: "note mono", textContent: session.cwd }),
  );
}

/**
 * @param {App} app
 * @param {Session} session
 */
function keep(app, session) {
  app.sessions.set(session.id, session);
  app.touch("sessions");
}

/**
 * @param {App} app
 * @param {Session} session
 * @param {HTMLDialogElement} dialog
 */
function renameForm(app, session, dialog) {
  const name = h("input", { type: "text", value: session.title ?? "", placeholder: nameOf(session), "aria-label": "Session name" });
  const form = h("form", { class: "rename" }, name, h("button", { type: "submit", class: "quiet", textContent: "Rename" }));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    dialog.close();
    const changed = await attempt(api.change(session.id, { title: name.value.trim() }));
    if (changed) keep(app, changed);
  });
  return form;
}

/**
 * @param {App} app
 * @param {Session} session
 * @param {HTMLDialogElement} menu
 */
function confirmDelete(app, session, menu) {
  menu.close();
  const body = h("div", {}, h("p", { textContent: "Removes the session and everything it stored. Files it changed are kept." }));
  const dialog = openDialog(`Delete “${nameOf(session)}”?`, body, "narrow");
  const remove = async () => {
    dialog.close();
    const done = await attempt(api.remove(session.id).then(() => true));
    if (!done) return;
    app.sessions.delete(session.id);
    app.touch("sessions");
    location.hash = "";
  };
  body.append(h("div", { class: "buttons" }, button("Keep it", () => dialog.close(), { class: "primary" }), button("Delete", remove, { class: "bad" })));
}
