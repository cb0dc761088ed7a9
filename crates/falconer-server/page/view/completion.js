// Completion of slash commands, from what the engine offers.

import { api } from "../net/api.js";
import { visible } from "../state/text.js";
import { h } from "./dom.js";

/** @import {App} from "../state/app.js" */

const MOST_SHOWN = 8;

export class Completion {
  /**
   * @param {App} app
   * @param {HTMLTextAreaElement} text
   */
  constructor(app, text) {
    this.app = app;
    this.text = text;
    /** @type {{name: string, description?: string, argument_hint?: string}[] | null} */
    this.commands = null;
    this.chosen = 0;
    this.element = h("ul", { class: "completion", id: "completion", role: "listbox", "aria-label": "Commands", hidden: true });
    text.setAttribute("aria-controls", "completion");
    text.setAttribute("aria-autocomplete", "list");
    text.addEventListener("blur", () => setTimeout(() => this.close(), 150));
  }

  forget() {
    this.commands = null;
    this.close();
  }

  matches() {
    const typed = /^\/([\w:-]*)$/.exec(this.text.value);
    if (!typed || !this.commands) return [];
    const start = (typed[1] ?? "").toLowerCase();
    return this.commands.filter((command) => command.name.replace(/^\//, "").toLowerCase().startsWith(start)).slice(0, MOST_SHOWN);
  }

  async update() {
    if (!this.text.value.startsWith("/")) return this.close();
    if (this.commands === null && this.app.session !== null) {
      this.commands = [];
      try {
        this.commands = (await api.commands(this.app.session)).commands;
      } catch {
        // An engine that is not running offers no commands; typing one by hand still works.
        this.commands = null;
      }
    }
    this.chosen = 0;
    this.draw();
  }

  draw() {
    const found = this.matches();
    this.element.hidden = found.length === 0;
    const options = found.map((command, index) =>
      h(
        "li",
        { role: "option", id: `command-${index}`, "aria-selected": String(index === this.chosen), onmousedown: () => this.take(index) },
        h("span", { class: "mono", textContent: `/${visible(command.name.replace(/^\//, ""))}` }),
        h("span", { class: "hint", textContent: visible(command.argument_hint ?? "") }),
        h("span", { class: "fold-names", textContent: visible(command.description ?? "") }),
      ),
    );
    this.element.replaceChildren(...options);
    if (found.length > 0) this.text.setAttribute("aria-activedescendant", `command-${this.chosen}`);
    else this.text.removeAttribute("aria-activedescendant");
  }

  close() {
    this.element.hidden = true;
    this.text.removeAttribute("aria-activedescendant");
  }

  /** @param {number} index */
  take(index) {
    const command = this.matches()[index];
    if (!command) return;
    this.text.value = `/${command.name.replace(/^\//, "")} `;
    this.close();
  }

  /**
   * @param {KeyboardEvent} event
   * @returns {boolean} Whether the key was for the list.
   */
  key(event) {
    const count = this.matches().length;
    if (this.element.hidden || count === 0) return false;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      this.chosen = (this.chosen + (event.key === "ArrowDown" ? 1 : count - 1)) % count;
      this.draw();
    } else if (event.key === "Tab" || (event.key === "Enter" && !this.isWhole())) {
      this.take(this.chosen);
    } else if (event.key === "Escape") {
      this.close();
    } else {
      return false;
    }
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  /** Whether what is typed is the chosen command already. */
  isWhole() {
    return this.text.value === `/${(this.matches()[this.chosen]?.name ?? "").replace(/^\//, "")}`;
  }
}
