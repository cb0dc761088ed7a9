// Everything that is told in one line: ends of turns and runs, decisions, retries, warnings.

import { amount, asText, clock, duration, money, visible } from "../../state/text.js";
import { button, h } from "../dom.js";
import { modeName } from "./labels.js";

/** @import {App} from "../../state/app.js" */
/** @import {RequestView, Row} from "../../types.js" */
/** @import {Drawn} from "./entry.js" */

/**
 * @param {string} text
 * @param {string} tone
 * @param {...(HTMLElement | null)} more
 * @returns {Drawn}
 */
function line(text, tone, ...more) {
  const body = h("div", { class: "line-note" }, h("span", { textContent: text }), ...more);
  return { label: text, body, tone: `notice ${tone}` };
}

/**
 * @param {Row} row
 * @returns {Drawn}
 */
export function turnRow(row) {
  const turn = row.content;
  const tokens = turn.tokens ?? {};
  const total = (tokens.input ?? 0) + (tokens.output ?? 0) + (tokens.cache_read ?? 0) + (tokens.cache_write ?? 0);
  const facts = [duration(turn.duration_ms ?? 0), `${amount(total)} tokens`];
  if (turn.cost > 0) facts.push(money(turn.cost));
  if (turn.ok) return line(`Turn ${row.turn ?? ""} done · ${facts.join(" · ")}`, "turn");
  const failure = turn.failure ?? {};
  const why = `Turn ${row.turn ?? ""} failed: ${failure.text || failure.class || "no reason given"}`;
  return line(visible(why), "turn bad", hintOf(failure));
}

/**
 * @param {Row} row
 * @returns {Drawn}
 */
export function runRow(row) {
  const run = row.content;
  if (run.began) {
    const parts = [run.engine, run.version, run.model, modeName(run.permission_mode), run.cwd, run.sandbox && `sandbox ${run.sandbox}`];
    return line(visible(parts.filter(Boolean).join(" · ")), "run");
  }
  if (run.outcome === "ok") return line("The agent's process ended", "run");
  if (run.outcome === "cancelled") return line("The run was stopped", "run");
  const failure = run.failure ?? {};
  const stderr = (run.stderr ?? []).join("\n");
  const said = stderr && h("pre", { class: "block output bad", tabIndex: 0, textContent: visible(stderr) });
  return line(visible(`The run failed: ${failure.text || failure.class || "no reason given"}`), "run bad", hintOf(failure), said);
}

/** What to do about a failure. @param {{hint?: string}} failure */
function hintOf(failure) {
  return failure.hint ? h("p", { class: "note", textContent: visible(`Hint: ${failure.hint}`) }) : null;
}

/**
 * @param {Row} row
 * @returns {Drawn}
 */
export function noticeRow(row) {
  const said = row.content;
  switch (said.type) {
    case "retry": {
      const wait = duration(Number(said.delay_ms) || 0);
      const why = [said.error, said.status].filter(Boolean).join(" ");
      return line(visible(`Model not reached (${why}), attempt ${said.attempt} of ${said.max_attempts}, again in ${wait}`), "warn");
    }
    case "limit":
      return line(visible(limitText(said)), said.reached ? "bad" : "warn");
    case "warning":
      return line(visible(String(said.text)), "warn");
    case "session.changed":
      return line(visible(changeText(said)), said.to === "bypassPermissions" ? "bad" : "");
    default:
      return line(visible(`${String(said.type).replace("task.", "Task ")}: ${said.description ?? said.summary ?? said.id}`), "");
  }
}

/** @param {any} said */
function limitText(said) {
  const state = said.reached ? "reached" : "near";
  const what = said.class === "quota" ? `Quota ${said.kind} ${state}` : said.class === "short" ? `Rate limit ${state}` : String(said.text);
  return said.resets_at ? `${what}; resets at ${new Date(said.resets_at * 1000).toLocaleString()}` : what;
}

/** @param {any} said */
function changeText(said) {
  switch (said.what) {
    case "model":
      return `Model is now ${said.to}${said.reason ? ` (${said.reason})` : ""}`;
    case "mode":
      return `Permissions: ${modeName(said.to)}`;
    case "title":
      return `Renamed to “${said.to}”`;
    case "compacted": {
      const sizes = said.tokens_before ? `: ${amount(said.tokens_before)} → ${amount(said.tokens_after ?? 0)} tokens` : "";
      return `Earlier messages were compacted${sizes}`;
    }
    case "reset":
      return "The conversation was cleared";
    case "forked":
      return "Forked from here";
    default:
      return asText(said);
  }
}

/**
 * @param {Row} row
 * @returns {Drawn}
 */
export function unknownRow(row) {
  const kind = row.content?.data?.kind ?? row.content?.type ?? "something";
  return line(visible(`Unknown to this page: ${kind}`), "dim");
}

/**
 * @param {App} app
 * @param {Row} row
 * @returns {Drawn}
 */
export function requestRow(app, row) {
  const request = app.view.requests.get(row.requests[0] ?? "");
  const name = request ? nameOf(request) : "A request";
  const body = h("div", { class: "line-note" }, h("span", { textContent: visible(name) }), ...row.requests.flatMap((id) => decisionLine(app, id)));
  return { label: name, body, tone: "notice" };
}

/** @param {RequestView} request */
function nameOf(request) {
  if (request.kind === "permission") return `Permission for ${request.tool ?? "a tool"}`;
  if (request.kind === "plan") return "A plan to approve";
  return request.kind === "choice" ? "Questions" : "A form";
}

/**
 * Who decided what; both versions if the input was edited.
 * @param {App} app
 * @param {string} id
 * @returns {HTMLElement[]}
 */
export function decisionLine(app, id) {
  const request = app.view.requests.get(id);
  if (!request) return [];
  const resolved = request.resolved;
  if (!resolved) {
    const jump = button("Review", () => document.getElementById(`card-${id}`)?.focus(), { class: "link" });
    return [h("div", { class: "decision waiting" }, h("span", { textContent: "Waiting for you " }), jump)];
  }
  const said = decisionText(request, resolved);
  /** @type {HTMLElement[]} */
  const out = [h("div", { class: `decision ${resolved.resolution}`, textContent: visible(said) })];
  if (resolved.edited !== undefined) out.push(versions(request, resolved.edited));
  return out;
}

/**
 * @param {RequestView} request
 * @param {NonNullable<RequestView["resolved"]>} resolved
 */
function decisionText(request, resolved) {
  const by = resolved.by.startsWith("rule:") ? "a rule" : resolved.by;
  const word = request.kind === "permission" ? resolved.resolution : resolved.resolution === "allowed" ? "answered" : resolved.resolution;
  const edited = resolved.edited === undefined ? "" : ", edited";
  const rule = resolved.rule ? `, always: ${ruleText(resolved.rule)}` : "";
  const message = resolved.message ? ` — ${resolved.message}` : "";
  const answers = resolved.answers ? ` — ${answersText(resolved.answers)}` : "";
  return `${word[0]?.toUpperCase()}${word.slice(1)} by ${by}, ${clock(resolved.time)}${edited}${rule}${message}${answers}`;
}

/** @param {any} rule */
function ruleText(rule) {
  return typeof rule === "string" ? rule : (rule.text ?? JSON.stringify(rule));
}

/** @param {any} answers */
function answersText(answers) {
  if (typeof answers !== "object" || answers === null) return String(answers);
  return Object.entries(answers)
    .map(([question, answer]) => `${question} ${Array.isArray(answer) ? answer.join(", ") : asText(answer)}`)
    .join("; ");
}

/**
 * @param {RequestView} request
 * @param {any} edited
 */
function versions(request, edited) {
  const show = (/** @type {any} */ input) => visible(typeof input?.command === "string" ? input.command : asText(input));
  return h(
    "dl",
    { class: "versions" },
    h("dt", { textContent: "asked" }),
    h("dd", {}, h("code", { textContent: show(request.input) })),
    h("dt", { textContent: "ran" }),
    h("dd", {}, h("code", { textContent: show(edited) })),
  );
}
