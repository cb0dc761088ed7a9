// A new session: engine, model, folder, mode, limits, with what was chosen last time.

import { api } from "../net/api.js";
import { sessionHash } from "../state/route.js";
import { visible } from "../state/text.js";
import { button, h } from "./dom.js";
import { pageHead } from "./page_head.js";
import { folderPicker } from "./folder.js";
import { MODE } from "./rows/labels.js";
import { wordsOf } from "./toast.js";

/** @import {App} from "../state/app.js" */

const PLACE = "falconer.new";
const NO_ENGINE = "No engine can run here yet: set ANTHROPIC_API_KEY and restart the server, or install Claude Code and log in.";

/** @type {Record<string, string>} */
const MODE_ABOUT = {
  default: "Asks before it changes anything",
  acceptEdits: "Changes files without asking; asks for commands",
  plan: "Reads and plans; changes nothing before you approve the plan",
  dontAsk: "Denies whatever no rule allows, without asking",
  auto: "The engine judges what is safe; asks for the rest",
  bypassPermissions: "Runs everything without asking. Only in a sandbox.",
};

/** @param {App} app */
export function newSessionView(app) {
  const before = remembered();
  const engine = h("select", { name: "engine" }, h("option", { value: "auto", textContent: "Automatic" }));
  const model = h("select", { name: "model" }, h("option", { value: "", textContent: "Default of the engine" }));
  const mode = h("select", { name: "mode" });
  const about = h("small", { class: "note" });
  const reasons = h("p", { class: "note reasons", tabIndex: 0, role: "group", "aria-label": "Why some engines cannot be used" });
  const missing = h("details", { hidden: true }, h("summary", { textContent: "Why some engines cannot be used" }), reasons);
  const none = h("p", { class: "bad", role: "alert", hidden: true, textContent: NO_ENGINE });
  const failed = h("p", { class: "bad failure", role: "alert", hidden: true });
  const cost = h("input", { type: "number", name: "cost", min: "0", step: "0.01", placeholder: "no limit", value: before.cost ?? "" });
  const turns = h("input", { type: "number", name: "turns", min: "1", step: "1", placeholder: "no limit", value: before.turns ?? "" });
  const folder = folderPicker(before.cwd ?? "");
  const text = h("textarea", { name: "text", rows: 4, placeholder: "What should be done? You can also write it later.", "aria-label": "First message" });
  const submit = h("button", { type: "submit", class: "primary", textContent: "Start session" });
  const describe = () => {
    about.textContent = MODE_ABOUT[mode.value] ?? "";
    about.classList.toggle("bad", mode.value === "bypassPermissions");
  };
  mode.addEventListener("change", describe);
  const field = (/** @type {string} */ name, /** @type {HTMLElement} */ input, /** @type {HTMLElement | null} */ more = null) => h("label", { class: "field" }, h("span", { textContent: name }), input, more);
  const form = h(
    "form",
    { class: "new" },
    h("div", { class: "field" }, h("label", { for: "folder", textContent: "Folder" }), folder.element),
    h("div", { class: "pair" }, field("Engine", engine), field("Model", model)),
    none,
    missing,
    field("Permissions", mode, about),
    h("details", {}, h("summary", { textContent: "Limits" }), h("div", { class: "pair" }, field("Money, in US dollars", cost), field("Turns of the model", turns))),
    field("First message", text),
    failed,
    h("div", { class: "buttons" }, h("span", { class: "gap" }), button("Cancel", () => history.back(), { class: "quiet" }), submit),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    failed.hidden = true;
    const choice = { engine: engine.value, model: model.value, cwd: folder.value(), mode: mode.value, cost: cost.value, turns: turns.value };
    try {
      const session = await api.create(wishOf(choice, text.value.trim()));
      localStorage.setItem(PLACE, JSON.stringify(choice));
      app.sessions.set(session.id, session);
      text.value = "";
      location.hash = sessionHash(session.id);
    } catch (error) {
      failed.textContent = wordsOf(error);
      failed.hidden = false;
    }
    submit.disabled = false;
  });
  const reset = async () => {
    const last = remembered();
    offer(mode, Object.entries(MODE).filter(([value]) => value !== "bypassPermissions" || app.me.bypass_allowed), last.mode ?? "default");
    if (mode.value === "bypassPermissions") mode.value = "default";
    describe();
    folder.reset(app.me.roots ?? []);
    const [engines, models] = await Promise.all([api.engines().catch(() => null), api.models().catch(() => null)]);
    const usable = usableOf(engines);
    offer(engine, [["auto", "Automatic"], ...namesOf(engines, "engines").filter(([value]) => value !== "auto")], usable.find((name) => name === last.engine) ?? usable[0] ?? "auto");
    none.hidden = engines === null || usable.length > 0;
    reasons.textContent = reasonsOf(engines);
    missing.hidden = reasons.textContent === "";
    missing.open = false;
    failed.hidden = true;
    text.focus();
    offer(model, [["", "Default of the engine"], ...namesOf(models, "models")], last.model ?? "");
  };
  const element = h("section", { class: "page", "aria-label": "New session" }, pageHead("New session"), form);
  return { element, update: () => {}, reset };
}

/**
 * @param {{engine: string, model: string, cwd: string, mode: string, cost: string, turns: string}} choice
 * @param {string} text
 */
function wishOf(choice, text) {
  /** @type {Record<string, unknown>} */
  const wish = { engine: choice.engine, cwd: choice.cwd, mode: choice.mode };
  if (choice.model) wish["model"] = choice.model;
  /** @type {Record<string, number>} */
  const limits = {};
  if (Number(choice.cost) > 0) limits["usd"] = Number(choice.cost);
  if (Number(choice.turns) > 0) limits["turns"] = Number(choice.turns);
  if (Object.keys(limits).length > 0) wish["limits"] = limits;
  if (text) wish["message"] = { client_msg_id: crypto.randomUUID(), text };
  return wish;
}

/** @returns {Record<string, string>} */
function remembered() {
  try {
    return JSON.parse(localStorage.getItem(PLACE) ?? "{}") ?? {};
  } catch {
    return {};
  }
}

/**
 * @param {HTMLSelectElement} select
 * @param {[string, string][]} options
 * @param {string} chosen
 */
function offer(select, options, chosen) {
  select.replaceChildren(...options.map(([value, name]) => h("option", { value, textContent: name })));
  select.value = options.some(([value]) => value === chosen) ? chosen : (options[0]?.[0] ?? "");
}

/**
 * @param {any} answer
 * @param {string} list
 * @returns {[string, string][]}
 */
function namesOf(answer, list) {
  const found = Array.isArray(answer) ? answer : (answer?.[list] ?? []);
  return found.map((/** @type {any} */ one) => {
    if (typeof one === "string") return [one, one];
    const id = String(one.id ?? one.name);
    return [id, `${one.name ?? id}${one.available === false ? " (not available)" : ""}`];
  });
}

/** @param {any} answer @returns {any[]} */
function enginesOf(answer) {
  return Array.isArray(answer) ? answer : (answer?.engines ?? []);
}

/** Engines that could be started now, best first. @param {any} answer @returns {string[]} */
function usableOf(answer) {
  return enginesOf(answer)
    .filter((one) => one.available !== false)
    .map((one) => String(one.id ?? one.name));
}

/** Why some engines cannot be used. @param {any} answer */
function reasonsOf(answer) {
  const found = enginesOf(answer);
  const absent = found.filter((one) => one.available === false && one.reason);
  return absent.map((one) => visible(`${one.name ?? one.id}: ${one.reason}`)).join("\n");
}
