// Requests: how the log tells them, which of them are the same, and who asks.

/** @import {FalconerEvent, Request, RequestView} from "../types.js" */
/** @import {View} from "./reducer.js" */

/**
 * @param {FalconerEvent} event
 * @returns {RequestView}
 */
export function openRequest(event) {
  const data = event.data;
  const isPermission = event.type === "permission.requested";
  return {
    id: data.id,
    kind: isPermission ? "permission" : data.kind,
    tool: data.tool,
    input: isPermission ? data.input : data.form,
    digest: data.digest,
    time: event.time,
    reason: data.reason,
    agent: data.agent,
    title: data.title,
    description: data.description,
    blocked_path: data.blocked_path,
    cwd: data.cwd,
    expires_at: data.expires_at,
    suggestions: data.suggestions,
    tool_use_id: data.tool_use_id || undefined,
    parent: event.parent ?? null,
    resolved: null,
  };
}

/**
 * @param {RequestView} request
 * @param {FalconerEvent} event
 */
export function settleRequest(request, event) {
  const { resolution, by, message, edited, rule, answers } = event.data;
  request.resolved = { resolution, by, time: event.time, message, edited, rule, answers };
}

/**
 * Requests that are the same thing in the same session, together: one answer is for all of them.
 * @param {Iterable<Request>} requests
 * @returns {Request[][]}
 */
export function groupsOfSame(requests) {
  /** @type {Map<string, Request[]>} */
  const groups = new Map();
  for (const request of requests) {
    const same = request.kind === "permission" ? request.digest : request.id;
    const key = `${request.session} ${same}`;
    const group = groups.get(key);
    if (group) group.push(request);
    else groups.set(key, [request]);
  }
  return [...groups.values()];
}

/**
 * The sub-agents that asked, outermost first.
 * @param {View} view
 * @param {Request} request
 * @returns {string[]}
 */
export function chainOf(view, request) {
  const asked = view.requests.get(request.id);
  /** @type {string[]} */
  const chain = [];
  let parent = asked?.parent ?? null;
  if (!parent && request.tool_use_id) parent = view.items.get(request.tool_use_id)?.parent ?? null;
  for (let depth = 0; parent && depth < 32; depth += 1) {
    const row = view.items.get(parent);
    chain.unshift(row?.content?.title ?? parent);
    parent = row?.parent ?? null;
  }
  return chain;
}

/**
 * What became of a request, in words.
 * @param {Request} request
 */
export function outcomeOf(request) {
  const decision = request.decision;
  if (request.state === "pending") return "waiting";
  if (request.state === "expired") return "expired, which is a denial";
  if (request.state === "withdrawn") return "withdrawn by the agent";
  const verdict = decision?.verdict?.type ?? "";
  const edited = verdict === "allow_edited" ? ", edited" : "";
  return `${verdictWord(verdict)} by ${decision?.by ?? "somebody"}${edited}`;
}

/** @param {string} verdict */
function verdictWord(verdict) {
  switch (verdict) {
    case "deny":
      return "denied";
    case "deny_and_stop":
      return "denied and stopped";
    case "allow_always":
      return "always allowed";
    case "choices":
    case "form":
      return "answered";
    case "approve_plan":
      return "approved";
    default:
      return verdict.startsWith("allow") ? "allowed" : "answered";
  }
}
