// The permission card: exactly what would be done, and every way to answer.
//
// Nothing but a press of a button, or of its key while the card has the focus, answers. A card
// never takes the focus by itself.

import { api, ApiError } from "../net/api.js";
import { chainOf, outcomeOf } from "../state/requests.js";
import { clock, visible } from "../state/text.js";
import { AlwaysPanel } from "./always.js";
import { cardHead } from "./card_head.js";
import { announce, button, fill, h, isField } from "./dom.js";
import { editorFor } from "./edit_input.js";
import { Guard, answered } from "./guard.js";
import { subjectOf } from "./subject.js";
import { complain } from "./toast.js";

/** @import {App} from "../state/app.js" */
/** @import {Request} from "../types.js" */
/** @import {Place} from "./card_head.js" */

/**
 * @param {App} app
 * @param {Request[]} group Identical requests; the first one is shown.
 * @param {Place} place
 * @returns {HTMLElement}
 */
export function permissionCard(app, group, place) {
  const request = /** @type {Request} */ (group[0]);
  const card = new Card(app, request, place);
  card.update(group);
  return card.element;
}

/**
 * @param {HTMLElement} element
 * @param {Request[]} group
 */
export function updatePermissionCard(element, group) {
  cards.get(element)?.update(group);
}

/** @type {WeakMap<HTMLElement, Card>} */
const cards = new WeakMap();

class Card {
  /**
   * @param {App} app
   * @param {Request} request
   * @param {Place} place
   */
  constructor(app, request, place) {
    this.app = app;
    this.request = request;
    /** @type {Request[]} */
    this.group = [request];
    this.editor = editorFor(request);
    this.isEditing = false;
    this.isSending = false;
    const name = `${request.tool ?? "A tool"} asks for permission`;
    this.element = h("section", { class: "card permission", id: `card-${request.id}`, tabIndex: 0, role: "group", "aria-label": name });
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.subject = h("div", { class: "subject" }, subjectOf(request));
    this.guidance = h("input", { class: "guidance", type: "text", placeholder: "What to do instead (optional)", "aria-label": "Guidance for the agent when you deny" });
    this.always = new AlwaysPanel(app, request, (rule) => this.answer({ type: "allow_always", rule }), () => this.guard.reset());
    this.why = h("p", { class: "why" });
    this.actions = h("div", { class: "answers" });
    const head = cardHead(app, request, place, "Permission", titleOf(request));
    const parts = [head, this.why, this.subject, this.always.element, this.guidance, this.actions];
    fill(this.element, ...parts);
    this.guard = new Guard(this.element);
    cards.set(this.element, this);
  }

  /** The sub-agents are known when their events have come, which may be after the request. */
  explain() {
    const { request } = this;
    const chain = request.session === this.app.session ? chainOf(this.app.view, request) : [];
    const who = chain.length > 0 ? chain.map((name) => `“${name}”`).join(" › ") : request.agent ? `sub-agent ${request.agent}` : "the main agent";
    const facts = [`Asked by ${who}`];
    if (request.reason) facts.push(`because: ${request.reason}`);
    if (request.blocked_path) facts.push(`outside what is allowed: ${request.blocked_path}`);
    if (!request.reason && !request.blocked_path) facts.push("no rule allows it");
    facts.push(request.expires_at ? `denied by itself at ${clock(request.expires_at)}` : "waits until someone answers");
    const text = visible(facts.join(" · "));
    if (this.why.textContent !== text) this.why.textContent = text;
  }

  /** @param {Request[]} group */
  update(group) {
    this.group = group;
    const open = group.filter((request) => request.state === "pending");
    if (open.length === 0) return this.settle();
    this.explain();
    this.drawActions(open.length);
  }

  /** @param {number} count */
  drawActions(count) {
    if (!this.app.may("approve")) {
      return fill(this.actions, h("p", { class: "note", textContent: "Your token can view but not approve." }));
    }
    const label = this.isEditing ? "Run edited" : count > 1 ? `Allow these ${count} once` : "Allow once";
    const stamp = `${label} ${this.isSending} ${this.isEditing}`;
    if (this.actions.dataset["stamp"] === stamp) return;
    this.actions.dataset["stamp"] = stamp;
    const off = { disabled: this.isSending };
    fill(
      this.actions,
      button(count > 1 ? `Deny ${count}` : "Deny", () => this.deny("deny"), { class: "primary deny", title: "Deny (d)", ...off }),
      button("Deny and stop", () => this.deny("deny_and_stop"), { class: "quiet", title: "Deny and stop (x)", ...off }),
      h("span", { class: "gap" }),
      button(this.isEditing ? "Undo edit" : "Edit", () => this.edit(), { class: "quiet approves", title: "Edit (e)", ...off }),
      button("Always…", () => this.showAlways(), { class: "quiet approves", title: "Always (w)", "aria-expanded": String(!this.always.element.hidden), ...off }),
      button(label, () => this.allow(), { class: "allow", title: "Allow once (a)", ...off }),
    );
    this.guard.reset();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return;
    // Held keys repeat; an answer is one press.
    if (event.repeat || this.isSending || !this.app.may("approve")) return;
    /** @type {Record<string, () => void>} */
    const keys = {
      a: () => this.allow(),
      e: () => this.edit(),
      w: () => this.showAlways(),
      d: () => this.deny("deny"),
      x: () => this.deny("deny_and_stop"),
    };
    const press = keys[event.key];
    if (!press) return;
    event.preventDefault();
    event.stopPropagation();
    const isDenial = event.key === "d" || event.key === "x";
    if (!this.guard.isMeant()) return;
    if (isDenial ? this.guard.isArmed() : this.guard.mayApprove()) press();
  }

  edit() {
    this.isEditing = !this.isEditing;
    fill(this.subject, this.isEditing ? this.editor.element : subjectOf(this.request));
    if (this.isEditing) this.editor.focus();
    else this.element.focus();
    this.update(this.group);
  }

  showAlways() {
    this.always.element.hidden = !this.always.element.hidden;
    if (!this.always.element.hidden) this.always.open();
    this.actions.dataset["stamp"] = "";
    this.update(this.group);
  }

  allow() {
    if (!this.isEditing) return this.answer({ type: "allow" });
    const input = this.editor.value();
    if (input !== null) this.answer({ type: "allow_edited", input });
  }

  /** @param {"deny" | "deny_and_stop"} type */
  deny(type) {
    const message = this.guidance.value.trim() || "The user denied this.";
    this.answer({ type, message });
  }

  /** @param {object} verdict */
  async answer(verdict) {
    if (this.isSending) return;
    this.isSending = true;
    this.update(this.group);
    // Only what is on the card: a digest names exactly that.
    const open = this.group.filter((request) => request.state === "pending" && request.digest === this.request.digest);
    await Promise.all(open.map((request) => answerRequest(this.app, request, verdict)));
    this.isSending = false;
    const now = this.group.map((request) => this.app.requests.get(request.id) ?? request);
    this.update(now);
  }

  settle() {
    const request = this.app.requests.get(this.request.id) ?? this.group[0] ?? this.request;
    this.element.classList.add("settled");
    const text = `${titleOf(request)}: ${outcomeOf(request)}`;
    const at = request.decision?.at ? `, ${clock(request.decision.at)}` : "";
    fill(this.element, h("p", { class: "outcome", textContent: `${text}${at}` }));
    announce(text);
  }
}

/**
 * Answers one request. Whoever was first has won; everybody else is told who.
 * @param {App} app
 * @param {Request} request
 * @param {object} verdict
 * @returns {Promise<boolean>}
 */
export async function answerRequest(app, request, verdict) {
  try {
    answered();
    const { request: settled } = await api.answer(request.id, request.digest, verdict);
    app.answeredHere.add(request.id);
    app.requests.set(settled.id, settled);
    app.touch("requests");
    return true;
  } catch (error) {
    const winner = error instanceof ApiError ? error.problem.request : undefined;
    if (winner) app.requests.set(winner.id, winner);
    else if (error instanceof ApiError && error.status === 410) app.requests.set(request.id, { ...request, state: "expired" });
    else complain(error);
    app.touch("requests");
    return false;
  }
}

/** @param {Request} request */
export function titleOf(request) {
  if (request.title) return visible(request.title);
  switch (request.tool) {
    case "Bash":
    case "PowerShell":
      return "Run a command";
    case "Write":
      return "Write a file";
    case "Edit":
    case "MultiEdit":
    case "NotebookEdit":
      return "Change a file";
    case "WebFetch":
      return "Fetch from the web";
    case "WebSearch":
      return "Search the web";
    case "Read":
      return "Read a file";
    default:
      return visible(`Use ${request.tool ?? "a tool"}`);
  }
}
