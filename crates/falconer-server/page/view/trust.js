// What the project of a session wants beyond narrowing: shown in full, trusted by a press.

import { api } from "../net/api.js";
import { exact, visible } from "../state/text.js";
import { button, fill, h } from "./dom.js";
import { Guard } from "./guard.js";
import { complain, toast } from "./toast.js";

/** @import {App} from "../state/app.js" */

export class TrustCard {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** The directory that was asked about. @type {string | null} */
    this.cwd = null;
    this.element = h("div", { hidden: true });
  }

  reset() {
    this.cwd = null;
    this.element.hidden = true;
    this.element.replaceChildren();
  }

  /** Looks once for each session that is shown. */
  update() {
    const cwd = this.app.current()?.cwd;
    if (cwd === undefined || cwd === this.cwd) return;
    this.cwd = cwd;
    this.look(cwd);
  }

  /** @param {string} cwd */
  async look(cwd) {
    try {
      const trust = await api.trust(cwd);
      if (this.cwd === cwd) this.show(cwd, trust);
    } catch {
      // A session of another machine, or a directory that is gone: nothing of it runs here.
      this.element.hidden = true;
    }
  }

  /**
   * @param {string} cwd
   * @param {import("../types.js").ProjectTrust} trust
   */
  show(cwd, trust) {
    const isOpen = trust.standing === "untrusted" || trust.standing === "changed";
    this.element.hidden = !isOpen;
    if (!isOpen) return;
    const changed = trust.standing === "changed" ? " It has changed since it was trusted." : "";
    const title = `This project's settings do more than narrow what agents may do. They are ignored.${changed}`;
    const more = button("Show everything", () => this.open(cwd, trust), { class: "link" });
    this.fill(h("p", { textContent: title }), h("div", { class: "answers" }, more, this.dismissal()));
  }

  /** Shows a new card, guarded: what was seen of the one before does not count. @param {...Node} parts */
  fill(...parts) {
    const card = h("section", { class: "card trust", role: "group", "aria-label": "Trust in this project" }, ...parts);
    new Guard(card);
    fill(this.element, card);
  }

  dismissal() {
    return button("Not now", () => (this.element.hidden = true), { class: "link" });
  }

  /**
   * @param {string} cwd
   * @param {import("../types.js").ProjectTrust} trust
   */
  open(cwd, trust) {
    const grant = button("Trust this content", () => this.grant(cwd, trust.digest), { class: "allow", disabled: !this.app.may("approve") });
    const digest = h("p", { class: "why", textContent: `Digest ${trust.digest}. Applies from the next run until the content changes.` });
    const answers = h("div", { class: "answers" }, this.dismissal(), h("span", { class: "gap" }), grant);
    const content = h("div", { class: "content" }, h("p", { textContent: visible(trust.project) }), ...trust.items.flatMap(itemOf), ...notes(trust), digest);
    this.fill(content, answers);
  }

  /**
   * @param {string} cwd
   * @param {string} digest
   */
  async grant(cwd, digest) {
    try {
      this.show(cwd, await api.decideTrust(cwd, digest, "grant"));
      toast("Trusted from the next run");
    } catch (error) {
      complain(error);
      this.look(cwd);
    }
  }
}

/** @param {import("../types.js").TrustItem} item */
function itemOf(item) {
  const title = `${item.wish}: ${item.key} in ${item.file}${item.is_new ? " (new)" : ""}`;
  const scripts = item.scripts.flatMap((script) => [
    h("p", { class: "why", textContent: visible(`names the file ${script.path}`) }),
    block(script.text ?? `not a short text; digest ${script.digest}`),
  ]);
  return [h("p", { textContent: visible(title) }), block(item.text), ...scripts];
}

/** @param {string} text */
function block(text) {
  return h("pre", { class: "block", tabIndex: 0, textContent: exact(text) });
}

/** @param {import("../types.js").ProjectTrust} trust */
function notes(trust) {
  const gone = trust.gone.map((it) => `no longer there, or changed: ${it}`);
  const ignored = trust.ignored.map((it) => `always ignored: ${it}`);
  return [...gone, ...ignored].map((text) => h("p", { class: "why", textContent: visible(text) }));
}
