// Tells the user that something needs him: the title, the icon, and a notification whose only
// action is to look. Nothing is ever approved from a notification.

import { nameOf } from "./state/inbox.js";
import { sessionHash } from "./state/route.js";
import { button } from "./view/dom.js";
import { titleOf } from "./view/permission.js";
import { toast } from "./view/toast.js";

/** @import {App} from "./state/app.js" */
/** @import {Request, Session} from "./types.js" */

/** Tabs tell each other what they show, so that no tab announces what another one shows. */
const tabs = "BroadcastChannel" in globalThis ? new BroadcastChannel("falconer") : null;
const ANSWER_MS = 120;

/** @param {App} app */
export function answerOtherTabs(app) {
  tabs?.addEventListener("message", (event) => {
    const asked = event.data?.shows;
    if (typeof asked === "string" && showsHere(app, asked)) tabs.postMessage({ shown: asked });
  });
}

/**
 * Whether somebody looks at a session in this tab.
 * @param {App} app
 * @param {string} session
 */
function showsHere(app, session) {
  if (document.hidden) return false;
  return app.route.view === "approvals" || (app.route.view === "session" && app.session === session);
}

/** @param {App} app */
export function updateTitle(app) {
  const count = app.pending().length;
  const session = app.route.view === "session" ? app.current() : undefined;
  const name = session ? `${nameOf(session)} · Falconer` : "Falconer";
  const title = count > 0 ? `(${count}) ${name}` : name;
  if (document.title !== title) document.title = title;
  const icon = document.querySelector("link[rel=icon]");
  const address = count > 0 ? "/assets/icon-alert.svg" : "/assets/icon.svg";
  if (icon && icon.getAttribute("href") !== address) icon.setAttribute("href", address);
}

/**
 * @param {App} app
 * @param {Request} request
 */
export function announceRequest(app, request) {
  if (request.state !== "pending") return;
  const session = app.sessions.get(request.session);
  const what = request.kind === "permission" ? titleOf(request) : request.kind === "plan" ? "A plan to approve" : "A question";
  notify(app, request.session, `Review: ${what}`, session ? nameOf(session) : "", request.id);
}

/**
 * @param {App} app
 * @param {Session} session
 * @param {Session | undefined} before
 */
export function announceSession(app, session, before) {
  const wasWorking = before?.state === "running";
  const isDone = session.state === "ready" || session.state === "idle" || session.state === "interrupted";
  if (wasWorking && isDone) notify(app, session.id, "Finished", nameOf(session), `done-${session.id}`);
}

/**
 * @param {App} app
 * @param {string} session
 * @param {string} title
 * @param {string} body
 * @param {string} tag
 */
async function notify(app, session, title, body, tag) {
  if (!("Notification" in globalThis) || Notification.permission !== "granted" || !wants()) return;
  if (showsHere(app, session) || (await isShownElsewhere(session))) return;
  const notification = new Notification(title, { body, tag });
  notification.addEventListener("click", () => {
    focus();
    location.hash = sessionHash(session);
    notification.close();
  });
}

/** @param {string} session @returns {Promise<boolean>} */
function isShownElsewhere(session) {
  if (!tabs) return Promise.resolve(false);
  return new Promise((resolve) => {
    const hear = (/** @type {MessageEvent} */ event) => {
      if (event.data?.shown === session) end(true);
    };
    const timer = setTimeout(() => end(false), ANSWER_MS);
    const end = (/** @type {boolean} */ is) => {
      clearTimeout(timer);
      tabs.removeEventListener("message", hear);
      resolve(is);
    };
    tabs.addEventListener("message", hear);
    tabs.postMessage({ shows: session });
  });
}

const PLACE = "falconer.notify";

function wants() {
  return localStorage.getItem(PLACE) === "yes";
}

/** @param {App} _app */
export function notificationSwitch(_app) {
  const isOn = () => "Notification" in globalThis && Notification.permission === "granted" && wants();
  const label = () => (isOn() ? "Notifications on" : "Notify me");
  const element = button(label(), press, { class: "link", "aria-pressed": String(isOn()) });
  async function press() {
    if (isOn()) localStorage.removeItem(PLACE);
    else if ("Notification" in globalThis && (await Notification.requestPermission()) === "granted") localStorage.setItem(PLACE, "yes");
    else toast("This browser does not allow notifications for this page");
    element.textContent = label();
    element.setAttribute("aria-pressed", String(isOn()));
  }
  return element;
}
