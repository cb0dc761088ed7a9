// The inbox: sessions, those that need you first.

import { lastWords } from "../net/last_words.js";
import { inbox, nameOf, troubleOf } from "../state/inbox.js";
import { sessionHash } from "../state/route.js";
import { clock, visible } from "../state/text.js";
import { connectionPill } from "./connection.js";
import { button, h, keyed } from "./dom.js";
import { notificationSwitch } from "../notify.js";
import { addDevice } from "./device.js";
import { themeSwitch } from "./theme.js";

/** @import {App} from "../state/app.js" */
/** @import {Listed} from "../state/inbox.js" */

/** @type {Record<string, string>} */
const NEED = {
  permission: "needs your permission",
  question: "has a question for you",
  failed: "failed",
  interrupted: "interrupted",
  finished: "finished, not read yet",
  running: "working",
  idle: "idle",
  closed: "closed",
};

/** So many sessions, from the top, say what their agents said last; the others are asked for nothing. */
const MOST_QUOTED = 15;

export class Rail {
  /**
   * @param {App} app
   * @param {() => void} help
   */
  constructor(app, help) {
    this.app = app;
    this.filter = h("input", { type: "search", placeholder: "Filter sessions", "aria-label": "Filter sessions", class: "filter" });
    this.filter.addEventListener("input", () => this.update());
    this.list = h("ul", { class: "sessions" });
    this.count = h("span", { class: "count", hidden: true });
    this.archive = button("Show archived", () => this.toggleArchive(), { class: "link", hidden: true });
    this.showsArchive = false;
    /** @type {Set<string>} */
    this.quoted = new Set();
    const approvals = h("a", { href: "#approvals", class: "nav" }, "Approvals", this.count);
    const rules = h("a", { href: "#rules", class: "nav", textContent: "Rules" });
    this.links = { approvals, rules };
    this.line = connectionPill(() => app.overview, "overview");
    this.element = h(
      "nav",
      { class: "rail", "aria-label": "Sessions" },
      h("div", { class: "brand" }, h("h1", { class: "name" }, h("a", { href: "#", textContent: "Falconer" })), h("a", { href: "#new", class: "button primary", title: "New session (n)", textContent: "New session" })),
      h("div", { class: "navs" }, approvals, rules),
      this.line.element,
      this.filter,
      this.list,
      this.archive,
      h("div", { class: "rail-foot" }, notificationSwitch(app), themeSwitch(), button("Add a device", addDevice, { class: "link", hidden: !app.may("admin") }), button("Keys ?", help, { class: "link" })),
    );
  }

  toggleArchive() {
    this.showsArchive = !this.showsArchive;
    this.update();
  }

  /** Sessions in the order they are shown. @returns {Listed[]} */
  listed() {
    const { app } = this;
    const wanted = this.filter.value.trim().toLowerCase();
    const all = inbox(app.sessions.values(), app.requests.values(), (session) => (session.id === app.session && !document.hidden ? session.head : app.seen.of(session)));
    return all.filter(({ session, pending }) => {
      if (session.archived && !this.showsArchive && pending === 0 && session.id !== app.session) return false;
      return wanted === "" || `${session.title ?? ""} ${session.cwd}`.toLowerCase().includes(wanted);
    });
  }

  /** What is on the page may be old while this is not live: no card takes an answer. */
  connected() {
    this.line.update();
    document.body.classList.toggle("disconnected", this.app.overview.state !== "live");
  }

  update() {
    const { app } = this;
    const pending = app.pending().length;
    this.count.textContent = String(pending);
    this.count.hidden = pending === 0;
    this.archive.hidden = ![...app.sessions.values()].some((session) => session.archived);
    this.archive.textContent = this.showsArchive ? "Hide archived" : "Show archived";
    for (const [name, link] of Object.entries(this.links)) current(link, app.route.view === name);
    const listed = this.listed();
    this.quoted = new Set(listed.slice(0, MOST_QUOTED).map(({ session }) => session.id));
    keyed(this.list, listed, ({ session }) => session.id, (listed) => this.item(listed), (element, listed) => this.refresh(element, listed));
  }

  /** @param {Listed} listed */
  item(listed) {
    const element = h("li", {}, h("a", { class: "session" }, h("span", { class: "mark" }), h("span", { class: "session-name" }), h("span", { class: "session-when" }), h("span", { class: "session-about" })));
    this.refresh(element, listed);
    return element;
  }

  /**
   * @param {HTMLElement} element
   * @param {Listed} listed
   */
  refresh(element, listed) {
    const { session, need } = listed;
    const isCurrent = session.id === this.app.session && this.app.route.view === "session";
    const about = this.about(listed);
    const stamp = JSON.stringify([nameOf(session), need, about, isCurrent, session.updated_at, session.pinned]);
    if (element.dataset["stamp"] === stamp) return;
    element.dataset["stamp"] = stamp;
    const link = element.firstElementChild;
    const [mark, name, when, said] = link?.children ?? [];
    if (!(link instanceof HTMLAnchorElement) || !mark || !name || !when || !said) return;
    link.href = sessionHash(session.id);
    link.dataset["need"] = need;
    current(link, isCurrent);
    mark.className = `mark ${need}`;
    mark.replaceChildren(h("span", { class: "sr", textContent: NEED[need] }));
    name.textContent = `${session.pinned ? "▴ " : ""}${nameOf(session)}`;
    when.textContent = clock(session.updated_at);
    said.replaceChildren(...about.map((part, index) => h("span", { class: index === 0 ? "first" : "quoted", textContent: part })));
  }

  /**
   * What it needs, and what the agent said last where somebody has to act on it.
   * @param {Listed} listed
   * @returns {string[]}
   */
  about({ session, need, pending }) {
    const trouble = troubleOf(session);
    if (need === "idle" && trouble) return [NEED[trouble] ?? "", ` · ${visible(session.cwd)}`];
    if (need === "idle" || need === "closed") return [visible(session.cwd)];
    const words = NEED[need] ?? "";
    if (need === "failed" || need === "interrupted") return [words, ` · ${visible(session.last_turn?.failure?.text ?? "")}`];
    if (need === "running") return [words];
    const said = this.quoted.has(session.id) ? visible(lastWords(this.app, session)) : "";
    if (need === "finished") return [said || words];
    const first = pending > 1 ? `${words} (${pending})` : words;
    return said ? [first, ` · ${said}`] : [first];
  }
}

/**
 * @param {HTMLElement} link
 * @param {boolean} is
 */
function current(link, is) {
  if (is) link.setAttribute("aria-current", "page");
  else link.removeAttribute("aria-current");
}
