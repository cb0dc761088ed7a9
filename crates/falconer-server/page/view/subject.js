// What is asked for, in full: the literal command, the diff, the host, or all arguments.

import { diffOfCall } from "../state/diff.js";
import { asText, exact, exactLine } from "../state/text.js";
import { diffBlock } from "./diff.js";
import { h } from "./dom.js";

/** @import {Request} from "../types.js" */

/**
 * @param {Request} request
 * @returns {HTMLElement}
 */
export function subjectOf(request) {
  const { tool, input } = request;
  if (tool?.startsWith("mcp__")) return mcpOf(tool, input, request.cwd);
  const where = placeOf(request.cwd);
  if ((tool === "Bash" || tool === "PowerShell") && typeof input?.command === "string") return commandOf(request, input);
  const diff = hasTexts(input) ? diffOfCall(tool, input) : null;
  if (diff && tool === "MultiEdit") return h("div", {}, diffBlock(diff.path, diff.lines), block("Input", asText(input)), where);
  if (diff) return h("div", {}, diffBlock(diff.path, diff.lines), restOf(input, SHOWN[tool ?? ""] ?? []), where);
  if (tool === "WebFetch" && typeof input?.url === "string") return h("div", {}, addressOf(input.url), restOf(input, ["url"]));
  return h("div", {}, toolOf(tool), block("Input", asText(input)), where);
}

/** What a diff shows of a call. @type {Record<string, string[]>} */
const SHOWN = {
  Write: ["file_path", "content"],
  Edit: ["file_path", "old_string", "new_string"],
  NotebookEdit: ["notebook_path", "new_source"],
};

/** A title can say anything; the name of the tool cannot. @param {string | undefined} tool */
function toolOf(tool) {
  return h("p", { class: "note", textContent: `Tool: ${exactLine(tool ?? "not named")}` });
}

/** @param {string | undefined} cwd */
function placeOf(cwd) {
  return cwd ? h("p", { class: "note", textContent: `in ${exactLine(cwd)}` }) : null;
}

/** Whether what a change is made of is text; anything else is shown as it is. @param {any} input */
function hasTexts(input) {
  const names = ["file_path", "notebook_path", "content", "old_string", "new_string", "new_source"];
  return names.every((name) => input?.[name] === undefined || typeof input[name] === "string");
}

/**
 * @param {Request} request
 * @param {any} input
 */
function commandOf(request, input) {
  const command = h("pre", { class: "block command", tabIndex: 0, role: "group", "aria-label": "The command", textContent: exact(input.command) });
  const said = typeof input.description === "string" ? input.description : "";
  const rest = restOf(input, typeof input.description === "string" ? ["command", "description"] : ["command"]);
  return h("div", {}, command, said && h("p", { class: "note", textContent: `“${exactLine(said)}”, says the agent` }), placeOf(request.cwd), rest);
}

/** An address with its host in sight. @param {string} url */
export function addressOf(url) {
  const host = hostOf(url);
  const at = host ? url.indexOf(host) : -1;
  const line = h("pre", { class: "block command", tabIndex: 0, role: "group", "aria-label": "The address" });
  if (host && at >= 0) {
    line.append(exact(url.slice(0, at)), h("mark", { textContent: exact(host) }), exact(url.slice(at + host.length)));
  } else {
    line.append(exact(url));
  }
  return h("div", {}, host && h("p", { class: "note", textContent: `Host: ${exact(host)}` }), line);
}

/**
 * @param {string} tool
 * @param {any} input
 * @param {string | undefined} cwd
 */
function mcpOf(tool, input, cwd) {
  const [, server, ...name] = tool.split("__");
  const head = h("p", { class: "note", textContent: `MCP server “${exactLine(server ?? "")}”, tool “${exactLine(name.join("__"))}”` });
  return h("div", {}, head, block("Arguments", asText(input)), placeOf(cwd));
}

/**
 * What else the input says, so that nothing is approved unseen.
 * @param {any} input
 * @param {string[]} shown
 */
function restOf(input, shown) {
  const isUsual = (/** @type {string} */ name, /** @type {unknown} */ value) => name === "replace_all" && value === false;
  const rest = Object.fromEntries(Object.entries(input ?? {}).filter(([name, value]) => !shown.includes(name) && !isUsual(name, value)));
  return Object.keys(rest).length > 0 && block("Further input", asText(rest));
}

/**
 * @param {string} name
 * @param {string} text
 */
function block(name, text) {
  return h("pre", { class: "block output", tabIndex: 0, role: "group", "aria-label": name, textContent: exact(text) });
}

/** @param {string} url */
function hostOf(url) {
  try {
    return new URL(url).host;
  } catch {
    return null;
  }
}
