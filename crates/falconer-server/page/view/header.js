// The head of a session: its name, state, model, mode, what it used, and how the connection is.

import { api } from "../net/api.js";
import { nameOf } from "../state/inbox.js";
import { costOf, tokensOf } from "../state/meter.js";
import { amount, money } from "../state/text.js";
import { connectionPill } from "./connection.js";
import { button, h, iconButton } from "./dom.js";
import { sessionMenu } from "./menu.js";
import { MODE } from "./rows/labels.js";
import { showUsage } from "./usage.js";
import { attempt } from "./toast.js";

/** @import {App} from "../state/app.js" */

/** @type {Record<string, string>} */
const STATE = {
  idle: "Idle, resumable",
  running: "Working",
  ready: "Ready",
  waiting: "Waiting for you",
  interrupted: "Interrupted: the server stopped",
  closed: "Closed",
};

export class Header {
  /**
   * @param {App} app
   * @param {() => void} search
   */
  constructor(app, search) {
    this.app = app;
    this.title = h("h1", { class: "session-title" });
    this.state = h("span", { class: "state", role: "status" });
    this.model = h("select", { "aria-label": "Model", class: "switch" });
    this.mode = h("select", { "aria-label": "Permission mode", class: "switch mode" });
    this.meter = button("", () => showUsage(app), { class: "meter", title: "Usage of this session" });
    this.bar = h("span", { class: "bar" });
    this.pill = connectionPill(() => app.connection);
    const back = h("a", { class: "back icon", href: "#", "aria-label": "Back to sessions", textContent: "←" });
    const find = iconButton("⌕", "Search in this session (/)", search);
    const more = iconButton("⋯", "More", () => sessionMenu(app));
    this.element = h("header", { class: "session-head" }, back, h("div", { class: "names" }, this.title, this.state), h("div", { class: "switches" }, this.model, this.mode, this.meter), this.pill.element, find, more);
    this.model.addEventListener("change", () => this.change({ model: this.model.value }));
    this.mode.addEventListener("change", () => this.change({ mode: this.mode.value }));
    /** @type {{id: string, name?: string}[]} */
    this.models = [];
    /** What is on the screen. */
    this.drawn = "";
  }

  /** @param {{model?: string, mode?: string}} change */
  async change(change) {
    const session = await attempt(api.change(this.app.session ?? "", change));
    if (session) this.app.sessions.set(session.id, session);
    this.drawn = "";
    this.app.touch("sessions");
  }

  async reset() {
    this.drawn = "";
    const session = this.app.session;
    if (session === null) return;
    try {
      const { models } = await api.commands(session);
      if (this.app.session === session) this.models = models ?? [];
    } catch {
      this.models = [];
    }
    this.drawn = "";
    this.app.touch("sessions");
  }

  update() {
    const { app } = this;
    const session = app.current();
    if (!session) return;
    const model = session.model ?? app.view.run?.model ?? "";
    const stamp = JSON.stringify([session.title, session.cwd, session.state, model, session.mode, this.models.length]);
    if (this.drawn !== stamp) {
      this.drawn = stamp;
      this.title.textContent = nameOf(session);
      this.title.title = session.cwd;
      this.state.textContent = STATE[session.state] ?? session.state;
      this.state.dataset["state"] = session.state;
      this.drawModels(model);
      this.drawModes(session.mode);
    }
    this.drawMeter();
    document.body.classList.toggle("bypass", session.mode === "bypassPermissions");
  }

  /** @param {string} model */
  drawModels(model) {
    const known = this.models.map((one) => ({ value: one.id, name: one.name ?? one.id }));
    if (!known.some((one) => one.value === model)) known.unshift({ value: model, name: model || "Default model" });
    this.model.replaceChildren(...known.map((one) => h("option", { value: one.value, textContent: one.name })));
    this.model.value = model;
  }

  /** @param {string} mode */
  drawModes(mode) {
    const offered = Object.entries(MODE).filter(([value]) => value !== "bypassPermissions" || this.app.me.bypass_allowed || mode === value);
    if (!offered.some(([value]) => value === mode)) offered.push([mode, mode]);
    this.mode.replaceChildren(...offered.map(([value, name]) => h("option", { value, textContent: name })));
    this.mode.value = mode;
    this.mode.dataset["mode"] = mode;
  }

  drawMeter() {
    const { meter } = this.app.view;
    const share = meter.context && meter.window ? Math.min(1, meter.context / meter.window) : null;
    const context = meter.context ? `≈${amount(meter.context)}${meter.window ? ` of ${amount(meter.window)}` : ""} context` : `${amount(tokensOf(meter))} tokens`;
    const text = `${context} · ${money(costOf(meter))}`;
    if (this.meter.dataset["text"] === text) return;
    this.meter.dataset["text"] = text;
    this.bar.style.width = `${Math.round((share ?? 0) * 100)}%`;
    this.bar.dataset["level"] = share !== null && share > 0.8 ? "high" : "";
    this.meter.replaceChildren(h("span", { class: "bar-frame", "aria-hidden": "true" }, this.bar), text);
  }
}
