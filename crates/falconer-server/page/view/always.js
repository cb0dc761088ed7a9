// "Always", as rules one can read and change, with their scope and what they would have allowed.
//
// A command made of several needs a rule for each of its parts: one line each.

import { api } from "../net/api.js";
import { exactLine } from "../state/text.js";
import { button, h } from "./dom.js";

/** @import {App} from "../state/app.js" */
/** @import {Request} from "../types.js" */

/** @type {Record<string, string>} */
const WIDTH = { exact: "Exactly this", prefix: "Commands that start like this", tool: "The whole tool" };
const SCOPES = [
  ["session", "this session"],
  ["project", "this project"],
  ["user", "me, everywhere"],
];

/** A rule that fits into its field on every screen. */
const SHORT_RULE = 32;

export class AlwaysPanel {
  /**
   * @param {App} app
   * @param {Request} request
   * @param {(rule: {text: string, and: string[], scope: string}) => void} save
   * @param {() => void} reread Called when the rule has changed, and is to be read again.
   */
  constructor(app, request, save, reread) {
    this.reread = reread;
    this.app = app;
    this.request = request;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.text = h("textarea", { class: "mono", rows: 1, spellcheck: false, "aria-label": "The rule" });
    this.text.addEventListener("input", () => this.changed());
    this.scope = h("select", { "aria-label": "Scope of the rule" }, ...SCOPES.map(([value, name]) => h("option", { value, textContent: `for ${name}` })));
    this.shown = h("pre", { class: "block", tabIndex: 0, role: "group", "aria-label": "The rule, in full", hidden: true });
    this.effect = h("p", { class: "note", role: "status" });
    this.widths = h("div", { class: "widths", role: "group", "aria-label": "Width of the rule" });
    const ok = button("Allow and remember", () => this.save(save), { class: "allow" });
    this.element = h("div", { class: "always", hidden: true }, this.widths, h("div", { class: "rule-line" }, this.text, this.scope, ok), this.shown, this.effect);
  }

  rules() {
    return this.text.value.split("\n").map((line) => line.trim()).filter(Boolean);
  }

  /** @param {(rule: {text: string, and: string[], scope: string}) => void} save */
  save(save) {
    const [text, ...and] = this.rules();
    if (text) save({ text, and, scope: this.scope.value });
    else this.effect.textContent = "Enter a rule.";
  }

  /** Shows the panel, with what the server suggests, narrowest first. */
  async open() {
    this.text.focus();
    if (this.text.value !== "") return this.explain();
    try {
      const { suggestions } = await api.explain(this.question());
      for (const { width, rules } of suggestions ?? []) this.offer(width, rules);
      const narrowest = suggestions?.[0];
      if (narrowest) this.choose(narrowest.rules);
    } catch (error) {
      this.effect.textContent = String(error);
    }
  }

  question() {
    const { request } = this;
    return { tool: request.tool, input: request.input, session: request.session };
  }

  /**
   * @param {string} width
   * @param {string[]} rules
   */
  offer(width, rules) {
    this.widths.append(button(WIDTH[width] ?? width, () => this.choose(rules), { class: "chip", "data-rules": rules.join("\n"), "aria-pressed": "false" }));
  }

  /** @param {string[]} rules */
  choose(rules) {
    this.text.value = rules.join("\n");
    this.changed();
  }

  changed() {
    const text = this.rules().join("\n");
    this.text.rows = Math.max(1, this.text.value.split("\n").length);
    // A field shows one line of a long rule, and nothing of letters that are not seen.
    const full = this.rules().map(exactLine).join("\n");
    this.shown.textContent = full;
    this.shown.hidden = full === text && full.length < SHORT_RULE;
    this.reread();
    for (const chip of this.widths.children) {
      chip.setAttribute("aria-pressed", String(chip instanceof HTMLElement && chip.dataset["rules"] === text));
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.explain(), 200);
  }

  /** Each rule by itself; only together do they cover a command made of several. */
  async explain() {
    const rules = this.rules();
    try {
      const said = await Promise.all(rules.map((rule) => api.explain({ ...this.question(), rule })));
      if (rules.join() !== this.rules().join()) return;
      this.effect.textContent = said.map((one, index) => effectOf(one.would_have_allowed, rules.length > 1 ? rules[index] : undefined)).join(" ");
    } catch (error) {
      this.effect.textContent = error instanceof Error ? error.message : String(error);
    }
  }
}

/**
 * @param {{allows_this: boolean, allowed: number, of: number} | undefined} would
 * @param {string | undefined} rule
 */
function effectOf(would, rule) {
  if (!would) return "";
  const name = rule ? `${rule}: would` : "Would";
  const covers = would.allows_this || rule ? "" : " It does not cover this request.";
  return `${name} have allowed ${would.allowed} of the last ${would.of} requests.${covers}`;
}
