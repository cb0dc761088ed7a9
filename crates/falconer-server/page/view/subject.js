// What is asked for, in full: the literal command, the diff, the host, or all arguments.

import { diffOfCall } from "../state/diff.js";
import { asText, exact, visible } from "../state/text.js";
import { diffBlock } from "./diff.js";
import { h } from "./dom.js";

/** @import {Request} from "../types.js" */

/**
 * @param {Request} request
 * @returns {HTMLElement}
 */
export function subjectOf(request) {
  const { tool, input } = request;
  if (typeof input?.command === "string") return commandOf(request, input);
  const diff = hasTexts(input) ? diffOfCall(tool, input) : null;
  if (diff && tool === "MultiEdit") return h("div", {}, diffBlock(diff.path, diff.lines), block("Input", asText(input)));
  if (diff) return h("div", {}, diffBlock(diff.path, diff.lines), restOf(input, ["file_path", "notebook_path", "content", "old_string", "new_string", "new_source", "edits"]));
  if (typeof input?.url === "string") return h("div", {}, addressOf(input.url), restOf(input, ["url"]));
  if (tool?.startsWith("mcp__")) return mcpOf(tool, input);
  return block("Input", asText(input));
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
  const note = [input.description, request.cwd && `in ${request.cwd}`].filter(Boolean).join(" · ");
  return h("div", {}, command, note && h("p", { class: "note", textContent: visible(note) }), restOf(input, ["command", "description"]));
}

/** An address with its host in sight. @param {string} url */
export function addressOf(url) {
  const host = hostOf(url);
  const at = host ? url.indexOf(host) : -1;
  const line = h("pre", { class: "block command", tabIndex: 0, role: "group", "aria-label": "The address" });
  if (host && at >= 0) {
    line.append(visible(url.slice(0, at)), h("mark", { textContent: visible(host) }), visible(url.slice(at + host.length)));
  } else {
    line.append(visible(url));
  }
  return h("div", {}, host && h("p", { class: "note", textContent: `Host: ${visible(host)}` }), line);
}

/**
 * @param {string} tool
 * @param {any} input
 */
function mcpOf(tool, input) {
  const [, server, name] = tool.split("__");
  const head = h("p", { class: "note", textContent: visible(`MCP server “${server ?? ""}”, tool “${name ?? ""}”`) });
  return h("div", {}, head, block("Arguments", asText(input)));
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
