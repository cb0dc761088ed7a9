// The session on the screen: its log, as it is written.

import { applyDelta } from "../state/deltas.js";
import { apply, emptyView } from "../state/reducer.js";
import { openStream } from "./stream.js";

/** @import {App} from "../state/app.js" */
/** @import {FalconerEvent, Request} from "../types.js" */

/** What came in a shorter gap was not missed: one has seen the rows come. */
const GONE_MS = 3000;

/**
 * @param {App} app
 * @param {string} session
 * @param {{onMissing: () => void, onSignedOut: () => void, onEvent: (event: FalconerEvent) => void}} hooks
 */
export function followSession(app, session, hooks) {
  app.session = session;
  app.view = emptyView();
  app.folds = new Map();
  app.missed = null;
  app.growing.clear();
  app.connected({ state: "reconnecting", at: 0 });
  app.touch("view");
  const stream = openStream({
    url: () => `/v1/sessions/${encodeURIComponent(session)}/stream?after=${app.view.seq}`,
    onFrame: (event, data) => {
      if (app.session === session) take(app, hooks, stream, event, data);
    },
    onConnection: (connection) => {
      if (app.session !== session) return;
      app.connected(connection);
    },
    onBack: (gap) => {
      if (app.session !== session || gap.ms < GONE_MS || gap.head <= gap.after || gap.after === 0) return;
      const since = app.missed?.after ?? gap.after;
      app.missed = { after: since, count: gap.head - since, pending: app.pending(session).length };
      app.touch("view");
    },
    onRefused: (status) => {
      if (status === 401) hooks.onSignedOut();
      if (status === 404) hooks.onMissing();
      return status !== 401 && status !== 404;
    },
  });
  return stream;
}

/**
 * @param {App} app
 * @param {{onEvent: (event: FalconerEvent) => void}} hooks
 * @param {{again: () => void}} stream
 * @param {string} event
 * @param {any} data
 */
function take(app, hooks, stream, event, data) {
  switch (event) {
    case "event":
      if (data.seq > app.view.seq + 1) return stream.again();
      if (apply(app.view, data)) hooks.onEvent(data);
      return app.touch("view");
    case "delta": {
      const row = applyDelta(app.view, data);
      if (!row) return;
      app.growing.add(row);
      return app.touch("delta");
    }
    case "session":
      app.sessions.set(data.id, data);
      return app.touch("sessions");
    case "hello":
      return hello(app, stream, data);
  }
}

/**
 * @param {App} app
 * @param {{again: () => void}} stream
 * @param {any} data
 */
function hello(app, stream, data) {
  if (data.session) app.sessions.set(data.session.id, data.session);
  for (const request of /** @type {Request[]} */ (data.pending ?? [])) app.requests.set(request.id, request);
  app.touch("sessions");
  app.touch("requests");
  if (data.resume !== "gap") return;
  // The log is not the one we read before: begin again.
  const wasEmpty = app.view.seq === 0;
  app.view = emptyView();
  app.missed = null;
  app.touch("view");
  if (!wasEmpty) stream.again();
}
