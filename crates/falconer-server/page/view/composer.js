// Where one writes to the agent: now, next, or instead of what it is doing.

import { api } from "../net/api.js";
import { Attachments } from "./attachments.js";
import { Completion } from "./completion.js";
import { button, h, iconButton } from "./dom.js";
import { attempt, complain } from "./toast.js";

/** @import {App} from "../state/app.js" */

/** @typedef {"queue" | "steer" | "interrupt"} Delivery */

/** @type {[Delivery, string, string][]} */
const DELIVERIES = [
  ["queue", "Queue", "Sent when the agent is done"],
  ["steer", "Steer", "Sent to the agent while it works (Alt+Enter)"],
  ["interrupt", "Interrupt", "Stops the agent, then sends"],
];

export class Composer {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {Delivery} */
    this.delivery = "queue";
    /** The last message that was not accepted; sent again it is the same message. @type {{text: string, id: string} | null} */
    this.unsent = null;
    this.isSending = false;
    this.text = h("textarea", { id: "composer-text", rows: 1, placeholder: "Write to the agent, / for commands", "aria-label": "Message to the agent", enterKeyHint: "send" });
    this.files = new Attachments(app);
    this.completion = new Completion(app, this.text);
    this.verbs = h("div", { class: "verbs", role: "group", "aria-label": "When it is sent" });
    for (const [value, name, about] of DELIVERIES) {
      this.verbs.append(button(name, () => this.choose(value), { class: "chip", title: about, "data-value": value, "aria-pressed": "false" }));
    }
    this.stop = button("Stop", () => this.interrupt(), { class: "stop", title: "Stop the agent (Ctrl+.)" });
    this.send = h("button", { type: "submit", class: "primary", textContent: "Send" });
    const attach = iconButton("+", "Attach files; pasting and dropping work too", () => this.files.pick());
    this.element = h("form", { class: "composer", "aria-label": "Composer" }, this.completion.element, this.files.element, this.text, h("div", { class: "composer-bar" }, attach, this.verbs, h("span", { class: "gap" }), this.stop, this.send));
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit(this.isBusy() ? this.delivery : "queue");
    });
    this.text.addEventListener("keydown", (event) => this.key(event));
    this.text.addEventListener("input", () => this.typed());
    this.text.addEventListener("paste", (event) => this.files.paste(event));
    this.element.addEventListener("dragover", (event) => event.preventDefault());
    this.element.addEventListener("drop", (event) => this.files.drop(event));
  }

  isBusy() {
    const state = this.app.current()?.state;
    return state === "running" || state === "waiting" || this.app.view.busy;
  }

  reset() {
    this.text.value = sessionStorage.getItem(this.place()) ?? "";
    this.unsent = null;
    this.files.clear();
    this.choose("queue");
    this.completion.forget();
    this.fit();
  }

  place() {
    return `falconer.draft.${this.app.session}`;
  }

  update() {
    const isBusy = this.isBusy();
    this.verbs.hidden = !isBusy;
    this.stop.hidden = !isBusy;
    const name = DELIVERIES.find(([value]) => value === this.delivery)?.[1] ?? "Send";
    const label = isBusy ? (this.delivery === "interrupt" ? "Interrupt and send" : name) : "Send";
    if (this.send.textContent !== label) this.send.textContent = label;
    this.send.disabled = this.isSending || !this.app.may("operate");
  }

  /** @param {Delivery} delivery */
  choose(delivery) {
    this.delivery = delivery;
    for (const chip of this.verbs.children) {
      chip.setAttribute("aria-pressed", String(chip instanceof HTMLElement && chip.dataset["value"] === delivery));
    }
    this.update();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.isComposing || this.completion.key(event)) return;
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    const wish = event.altKey ? "steer" : this.delivery;
    this.submit(this.isBusy() ? wish : "queue");
  }

  typed() {
    this.fit();
    sessionStorage.setItem(this.place(), this.text.value);
    this.completion.update();
  }

  fit() {
    this.text.style.height = "auto";
    this.text.style.height = `${Math.min(220, this.text.scrollHeight + 2)}px`;
  }

  /** @param {string} text */
  put(text) {
    this.text.value = text;
    this.typed();
    this.text.focus();
  }

  /** @param {Delivery} delivery */
  async submit(delivery) {
    const text = this.text.value.trim();
    const session = this.app.session;
    const attachments = this.files.ids();
    if (session === null || this.isSending || (text === "" && attachments.length === 0)) return;
    // The same text sent again after a failure is the same message: the server takes it once.
    const id = this.unsent?.text === text ? this.unsent.id : crypto.randomUUID();
    this.unsent = { text, id };
    this.isSending = true;
    this.update();
    try {
      await api.send(session, { client_msg_id: id, text, attachments, delivery });
      this.unsent = null;
      if (this.text.value.trim() === text) this.text.value = "";
      sessionStorage.removeItem(this.place());
      this.files.clear();
      this.fit();
    } catch (error) {
      complain(error);
    }
    this.isSending = false;
    this.update();
  }

  interrupt() {
    if (this.app.session !== null) attempt(api.interrupt(this.app.session));
  }
}
