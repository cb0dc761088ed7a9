// A stream that comes back by itself and is honest about how it is.

import { frameReader } from "./sse.js";

/**
 * @typedef {{state: "live"} | {state: "catching", behind: number} | {state: "reconnecting", at: number}
 *   | {state: "stale", since: number} | {state: "offline"}} Connection
 */

/**
 * @typedef {object} Source
 * @property {() => string} url Where to go on; asked before every attempt.
 * @property {(event: string, data: any) => void} onFrame
 * @property {(connection: Connection) => void} onConnection
 * @property {(status: number) => boolean} onRefused Says whether to try again.
 * @property {(gap: {after: number, head: number, ms: number}) => void} [onBack] The connection is back, where it was and how far the server is.
 */

/**
 * @typedef {object} Following
 * @property {() => void} close For good.
 * @property {() => void} again Begin again where we are.
 * @property {() => void} rest Hang up until `again`: browsers allow few connections at a time.
 */

/** The server says something every 15 seconds; two missed pings and a bit are silence. */
const SILENCE_MS = 35_000;
const LONGEST_WAIT_MS = 10_000;

/**
 * @param {Source} source
 * @returns {Following}
 */
export function openStream(source) {
  const stream = new Stream(source);
  stream.start();
  return { close: () => stream.close(), again: () => stream.again(), rest: () => stream.rest() };
}

class Stream {
  /** @param {Source} source */
  constructor(source) {
    this.source = source;
    this.failures = 0;
    this.isClosed = false;
    this.heard = 0;
    /** Since when nothing was heard, if the connection is gone. */
    this.goneSince = 0;
    /** How far the server was when it greeted us. */
    this.head = 0;
    /** How far we are. */
    this.at = 0;
    /** @type {AbortController | null} */
    this.attempt = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.watch = undefined;
    this.online = () => this.again();
    this.offline = () => this.source.onConnection({ state: "offline" });
  }

  start() {
    addEventListener("online", this.online);
    addEventListener("offline", this.offline);
    this.watch = setInterval(() => this.listen(), 5000);
    this.connect();
  }

  close() {
    this.isClosed = true;
    removeEventListener("online", this.online);
    removeEventListener("offline", this.offline);
    clearInterval(this.watch);
    clearTimeout(this.timer);
    this.attempt?.abort();
  }

  rest() {
    clearTimeout(this.timer);
    const attempt = this.attempt;
    this.attempt = null;
    this.lost();
    attempt?.abort();
  }

  again() {
    if (this.isClosed) return;
    clearTimeout(this.timer);
    this.attempt?.abort();
    this.lost();
    this.failures = 0;
    this.connect();
  }

  async connect() {
    const attempt = new AbortController();
    this.attempt = attempt;
    try {
      const response = await fetch(this.source.url(), {
        headers: { Accept: "text/event-stream" },
        cache: "no-store",
        signal: attempt.signal,
      });
      if (!response.ok || !response.body) {
        if (!this.source.onRefused(response.status)) return this.close();
        throw new Error(`refused with ${response.status}`);
      }
      await this.read(response.body, attempt);
    } catch {
      // Whatever went wrong, the answer is the same: wait and come back.
    }
    if (this.attempt === attempt && !this.isClosed) this.wait();
  }

  /**
   * @param {ReadableStream<Uint8Array>} body
   * @param {AbortController} attempt
   */
  async read(body, attempt) {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    const frames = frameReader();
    this.heard = Date.now();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.attempt !== attempt || this.isClosed) return;
      this.heard = Date.now();
      for (const frame of frames(decoder.decode(value, { stream: true }))) this.take(frame);
    }
  }

  /** @param {import("./sse.js").Frame} frame */
  take(frame) {
    const data = JSON.parse(frame.data);
    this.failures = 0;
    if (frame.event === "hello") {
      this.head = Number(data.head) || 0;
      this.at = Number(data.after) || 0;
    }
    if (frame.id !== null) this.at = Number(frame.id) || this.at;
    this.source.onFrame(frame.event, data);
    if (frame.event === "hello" && this.goneSince > 0) {
      const gap = { after: this.at, head: this.head, ms: Date.now() - this.goneSince };
      this.goneSince = 0;
      this.source.onBack?.(gap);
    }
    const behind = this.head - this.at;
    this.source.onConnection(behind > 0 ? { state: "catching", behind } : { state: "live" });
  }

  /** Says so when the server is silent, and asks again. */
  listen() {
    if (this.heard === 0 || Date.now() - this.heard < SILENCE_MS) return;
    this.source.onConnection({ state: "stale", since: this.heard });
    if (Date.now() - this.heard > 2 * SILENCE_MS) this.again();
  }

  lost() {
    if (this.heard > 0 && this.goneSince === 0) this.goneSince = this.heard;
    this.heard = 0;
  }

  wait() {
    this.lost();
    if (!navigator.onLine) return this.offline();
    const longest = Math.min(LONGEST_WAIT_MS, 250 * 2 ** this.failures);
    const delay = longest * (0.5 + Math.random() / 2);
    this.failures += 1;
    this.source.onConnection({ state: "reconnecting", at: Date.now() + delay });
    this.timer = setTimeout(() => this.connect(), delay);
  }
}
