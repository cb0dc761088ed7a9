// What a plan says. Only what is in the request can be approved: nothing else is covered by its
// digest.

/** @import {Request} from "../types.js" */

/**
 * The plan of a request, if it shows one.
 * @param {Request} request
 * @returns {string | null}
 */
export function planOf(request) {
  const plan = request.input?.plan;
  return typeof plan === "string" && plan.trim() !== "" ? plan : null;
}

/**
 * What the plan wants to do without asking, one line each.
 * @param {Request} request
 * @returns {string[]}
 */
export function promptsOf(request) {
  const asked = request.input?.allowedPrompts;
  if (asked === undefined || asked === null) return [];
  const all = Array.isArray(asked) ? asked : [asked];
  return all.map((one) => {
    const isUsual = typeof one?.tool === "string" && typeof one?.prompt === "string" && Object.keys(one).length === 2;
    return isUsual ? `${one.tool}: ${one.prompt}` : JSON.stringify(one);
  });
}

/**
 * Everything else the request says, if it says more.
 * @param {Request} request
 * @returns {object | null}
 */
export function restOfPlan(request) {
  const { plan: _plan, allowedPrompts: _prompts, ...rest } = request.input ?? {};
  return Object.keys(rest).length > 0 ? rest : null;
}
