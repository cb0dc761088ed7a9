// The rules that answer without asking: who made each, where it holds, how often it was used.

import { api } from "../net/api.js";
import { nameOf } from "../state/inbox.js";
import { clock, visible } from "../state/text.js";
import { button, h, keyed } from "./dom.js";
import { pageHead } from "./page_head.js";
import { attempt, toast } from "./toast.js";

/** @import {App} from "../state/app.js" */
/** @import {Rule} from "../types.js" */

/** @param {App} app */
export function rulesView(app) {
  /** @type {Rule[]} */
  let rules = [];
  const body = h("tbody", {});
  const nothing = h("div", { class: "empty" }, h("p", { class: "big", textContent: "No rules yet" }), h("p", { textContent: "“Always…” on a permission card makes one, or write one above." }));
  const head = ["Rule", "Effect", "Where", "Made by", "Used", ""].map((name) => h("th", { scope: "col", textContent: name }));
  const table = h("table", { class: "rules" }, h("thead", {}, h("tr", {}, ...head)), body);
  const load = async () => {
    const found = await attempt(api.rules());
    if (found) rules = found.rules;
    draw();
  };
  const draw = () => {
    nothing.hidden = rules.length > 0;
    table.hidden = rules.length === 0;
    keyed(body, rules, (rule) => JSON.stringify(rule), (rule) => rowOf(app, rule, load));
  };
  const element = h("section", { class: "page", "aria-label": "Rules" }, pageHead("Rules"), h("p", { class: "note", textContent: "Deny overrides ask, and ask overrides allow. Anything no rule covers is asked." }), adder(app, load), nothing, h("div", { class: "table-frame" }, table));
  return { element, update: () => {}, reset: load };
}

/**
 * @param {App} app
 * @param {() => void} done
 */
function adder(app, done) {
  const text = h("input", { type: "text", class: "mono", placeholder: "Bash(git status:*)", "aria-label": "New rule", required: true, spellcheck: false });
  const effect = h("select", { "aria-label": "Effect" }, ...["allow", "ask", "deny"].map((value) => h("option", { value, textContent: value })));
  const form = h("form", { class: "rule-line" }, text, effect, h("button", { type: "submit", class: "quiet", textContent: "Add for me", disabled: !app.may("approve") }));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const made = await attempt(api.addRule({ text: text.value.trim(), effect: effect.value, scope: { type: "user" } }));
    if (!made) return;
    text.value = "";
    done();
  });
  return form;
}

/**
 * @param {App} app
 * @param {Rule} rule
 * @param {() => void} done
 */
function rowOf(app, rule, done) {
  const text = h("input", { type: "text", class: "mono bare", value: rule.text, "aria-label": `Rule ${rule.text}`, spellcheck: false });
  text.addEventListener("change", async () => {
    if (await attempt(api.changeRule(rule.id, { text: text.value.trim() }))) toast("Rule changed");
    done();
  });
  const revoke = async () => {
    await attempt(api.removeRule(rule.id));
    toast(`Revoked: ${rule.text}`);
    done();
  };
  const used = `${rule.used ?? 0}×${rule.last_used ? `, last ${clock(rule.last_used)}` : ""}`;
  const made = `${rule.created_by ?? "somebody"}, ${clock(rule.created_at ?? "")}`;
  return h(
    "tr",
    {},
    h("td", {}, text),
    h("td", {}, h("span", { class: `effect ${rule.effect}`, textContent: rule.effect })),
    h("td", { textContent: visible(scopeText(app, rule.scope)) }),
    h("td", { textContent: visible(made) }),
    h("td", { textContent: used }),
    h("td", {}, button("Revoke", revoke, { class: "link", "aria-label": `Revoke ${rule.text}` })),
  );
}

/**
 * @param {App} app
 * @param {Rule["scope"]} scope
 */
function scopeText(app, scope) {
  switch (scope.type) {
    case "user":
      return "everywhere";
    case "project":
      return scope.path;
    case "session": {
      const session = app.sessions.get(scope.id);
      return session ? `session “${nameOf(session)}”` : `session ${scope.id}`;
    }
  }
}
