// A session on the screen: head, tasks, timeline, dock.

import { copyCurl, copyLink, showRaw } from "./raw.js";
import { Dock } from "./dock.js";
import { h } from "./dom.js";
import { Header } from "./header.js";
import { missedLine } from "./missed.js";
import { SearchBar } from "./search_bar.js";
import { taskStrip } from "./tasks.js";
import { Timeline } from "./timeline.js";
import { troubleLine } from "./trouble.js";
import { TrustCard } from "./trust.js";

/** @import {App, Topic} from "../state/app.js" */

export class SessionScreen {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.timeline = new Timeline(app);
    this.search = new SearchBar(app, this.timeline);
    this.header = new Header(app, () => this.search.open());
    this.tasks = taskStrip(app);
    this.dock = new Dock(app);
    this.trust = new TrustCard(app);
    this.missed = missedLine(app, (seq) => this.timeline.show(seq));
    this.trouble = troubleLine(app);
    /** The event a link names, until it is there. @type {number | null} */
    this.wanted = null;
    this.missing = h("p", { class: "note missing", textContent: "This session is not on the server.", hidden: true });
    this.unloaded = h("p", { class: "note missing", role: "status", textContent: "Not loaded: there is no connection to the server.", hidden: true });
    const bypass = h("p", { class: "bypass-note", role: "note", textContent: "Nothing is asked in this session: everything runs" });
    this.element = h("section", { class: "session-screen", "aria-label": "Session" }, this.header.element, bypass, this.search.element, this.tasks.element, this.trust.element, this.missing, this.unloaded, this.timeline.element, this.missed.element, this.trouble.element, this.dock.element);
  }

  /** Another session. */
  reset() {
    this.missing.hidden = true;
    this.timeline.reset();
    this.dock.reset();
    this.trust.reset();
    this.search.element.hidden = true;
    this.header.reset();
  }

  /** @param {Set<Topic>} topics */
  update(topics) {
    const { app } = this;
    if (topics.has("connection")) this.header.pill.update();
    const { state } = app.connection;
    this.unloaded.hidden = app.view.seq > 0 || state === "live" || state === "catching" || !app.isLoaded;
    if (topics.has("sessions") || topics.has("view")) this.header.update();
    if (topics.has("sessions") || topics.has("route")) {
      this.trust.update();
      this.trouble.update();
    }
    if (topics.has("view")) {
      this.tasks.update();
      this.missed.update();
      this.timeline.update();
      this.showWanted();
    } else if (topics.has("delta")) {
      this.timeline.grow(app.growing);
    }
    app.growing.clear();
    if (topics.has("view") || topics.has("requests") || topics.has("sessions") || topics.has("route")) this.dock.update();
  }

  showWanted() {
    const { app } = this;
    if (this.wanted === null || app.view.seq < this.wanted) return;
    const seq = this.wanted;
    this.wanted = null;
    this.timeline.show(seq);
  }

  raw() {
    const entry = this.timeline.focusedEntry();
    if (entry) showRaw(this.app, entry.row ? entry.row.seqs : entry.group.flatMap((row) => row.seqs));
  }

  link() {
    const entry = this.timeline.focusedEntry();
    if (entry) copyLink(this.app, entry.seq);
  }

  curl() {
    const entry = this.timeline.focusedEntry();
    if (entry) copyCurl(this.app, entry);
  }
}
