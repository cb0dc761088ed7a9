// Everything the page knows, and who wants to hear of changes.

import { emptyView } from "./reducer.js";
import { seenSessions } from "./seen.js";

/** @import {Me, Request, Session} from "../types.js" */
/** @import {Connection} from "../net/stream.js" */
/** @import {Route} from "./route.js" */
/** @import {View} from "./reducer.js" */

/** @typedef {"sessions" | "requests" | "view" | "delta" | "route" | "connection"} Topic */

export class App {
  constructor() {
    /** @type {Me} */
    this.me = { name: "", scopes: [] };
    /** @type {Map<string, Session>} */
    this.sessions = new Map();
    /** Every request this page has heard of, open or not. @type {Map<string, Request>} */
    this.requests = new Map();
    /** @type {Route} */
    this.route = { view: "home" };
    /** The log of the session on the screen. @type {View} */
    this.view = emptyView();
    /** @type {string | null} */
    this.session = null;
    /** How the log of the session on the screen comes in. @type {Connection} */
    this.connection = { state: "reconnecting", at: 0 };
    /** How the lists of sessions and requests come in. @type {Connection} */
    this.overview = { state: "reconnecting", at: 0 };
    /** Rows the user opened or closed himself. @type {Map<string, boolean>} */
    this.folds = new Map();
    /** What came while the connection of this session was gone. @type {{after: number, count: number, pending: number} | null} */
    this.missed = null;
    /** Rows with text that is not on the screen yet. @type {Set<import("../types.js").Row>} */
    this.growing = new Set();
    /** Requests this page answered. @type {Set<string>} */
    this.answeredHere = new Set();
    this.isLoaded = false;
    this.seen = seenSessions();
    /** @type {((topics: Set<Topic>) => void)[]} */
    this.listeners = [];
    /** @type {Set<Topic>} */
    this.changed = new Set();
  }

  /** @param {(topics: Set<Topic>) => void} listener */
  listen(listener) {
    this.listeners.push(listener);
  }

  /** Says that something changed; it is drawn with the next frame. @param {Topic} topic */
  touch(topic) {
    if (this.changed.size === 0) requestAnimationFrame(() => this.draw());
    this.changed.add(topic);
  }

  /** @param {Connection} connection */
  connected(connection) {
    if (connection.state === "live" && this.connection.state === "live") return;
    this.connection = connection;
    this.touch("connection");
  }

  /** @param {Connection} connection */
  overviewed(connection) {
    if (connection.state === "live" && this.overview.state === "live") return;
    this.overview = connection;
    this.touch("connection");
  }

  draw() {
    const topics = this.changed;
    this.changed = new Set();
    for (const listener of this.listeners) listener(topics);
  }

  /** @returns {Session | undefined} */
  current() {
    return this.session === null ? undefined : this.sessions.get(this.session);
  }

  /** @param {string} [session] @returns {Request[]} */
  pending(session) {
    const open = [...this.requests.values()].filter((request) => request.state === "pending");
    return session === undefined ? open : open.filter((request) => request.session === session);
  }

  /** @param {string} scope */
  may(scope) {
    return this.me.scopes.includes(scope) || this.me.scopes.includes("admin");
  }
}
