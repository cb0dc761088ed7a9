// What happens anywhere: the list of sessions and of requests.

import { openStream } from "./stream.js";

/** @import {App} from "../state/app.js" */
/** @import {Request, Session} from "../types.js" */

/**
 * @param {App} app
 * @param {{onRequest: (request: Request) => void, onSession: (session: Session, before: Session | undefined) => void, onSignedOut: () => void}} hooks
 */
export function followEverything(app, hooks) {
  return openStream({
    url: () => "/v1/stream",
    onFrame: (event, data) => take(app, hooks, event, data),
    onConnection: (connection) => app.overviewed(connection),
    onRefused: (status) => {
      if (status !== 401) return true;
      hooks.onSignedOut();
      return false;
    },
  });
}

/**
 * @param {App} app
 * @param {Parameters<typeof followEverything>[1]} hooks
 * @param {string} event
 * @param {any} data
 */
function take(app, hooks, event, data) {
  if (event === "hello") hello(app, hooks, data);
  if (event === "session") {
    const before = app.sessions.get(data.id);
    app.sessions.set(data.id, data);
    hooks.onSession(data, before);
    app.touch("sessions");
  }
  if (event === "gone") {
    app.sessions.delete(data.id);
    for (const request of app.requests.values()) if (request.session === data.id) app.requests.delete(request.id);
    app.touch("sessions");
    app.touch("requests");
  }
  if (event === "request") {
    app.requests.set(data.id, data);
    hooks.onRequest(data);
    app.touch("requests");
  }
}

/**
 * @param {App} app
 * @param {Parameters<typeof followEverything>[1]} hooks
 * @param {any} data
 */
function hello(app, hooks, data) {
  app.sessions = new Map(data.sessions.map((/** @type {Session} */ session) => [session.id, session]));
  const open = new Set(data.requests.map((/** @type {Request} */ request) => request.id));
  for (const request of app.requests.values()) {
    // It was answered or given up while nobody told us.
    if (request.state === "pending" && !open.has(request.id)) app.requests.delete(request.id);
  }
  for (const request of data.requests) {
    const isNew = !app.requests.has(request.id);
    app.requests.set(request.id, request);
    if (isNew) hooks.onRequest(request);
  }
  app.isLoaded = true;
  app.touch("sessions");
  app.touch("requests");
}
