// Tells the user that something needs him: the title, the icon, and a notification whose only
// action is to look. Nothing is ever approved from a notification.

import { nameOf, troubleOf } from "./state/inbox.js";
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
  updateBadge(count);
}

/** How many it says now. */
let badge = 0;

/** The number on the icon of the tab, and on the one of the app where the page is installed. @param {number} count */
function updateBadge(count) {
  if (badge === count) return;
  badge = count;
  document.querySelector("link[rel=icon]")?.setAttribute("href", count > 0 ? numberedIcon(count) : "/assets/icon.svg");
  const done = count > 0 ? navigator.setAppBadge?.(count) : navigator.clearAppBadge?.();
  done?.catch(() => {});
}

/** @param {number} count */
function numberedIcon(count) {
  const text = count > 9 ? "9+" : String(count);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#4453c9"/><path d="M7 20c6 0 9-3 10-9 2 4 5 6 8 6-2 5-6 8-11 8-3 0-6-2-7-5z" fill="#fff"/><circle cx="21" cy="11" r="11" fill="#d1242f"/><text x="21" y="17" text-anchor="middle" font-family="sans-serif" font-size="${text.length > 1 ? 13 : 17}" font-weight="700" fill="#fff">${text}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
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

const WORDS = { finished: "Finished", failed: "Failed", interrupted: "Interrupted" };

/**
 * @param {App} app
 * @param {Session} session
 * @param {Session | undefined} before
 */
export function announceSession(app, session, before) {
  const wasWorking = before?.state === "running";
  const isDone = session.state === "ready" || session.state === "idle" || session.state === "interrupted";
  if (wasWorking && isDone) notify(app, session.id, WORDS[troubleOf(session) ?? "finished"], nameOf(session), `done-${session.id}`);
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
