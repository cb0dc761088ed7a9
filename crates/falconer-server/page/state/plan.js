// Where a plan is: engines say it in the request, in the call, in a file of plans, or as a message.

/** @import {Request, Row} from "../types.js" */
/** @import {View} from "./reducer.js" */

/**
 * The plan a request is about, if it can be found.
 * @param {View} view
 * @param {Request} request
 * @returns {string | null}
 */
export function planOf(view, request) {
  const call = request.tool_use_id ? view.items.get(request.tool_use_id) : undefined;
  const said = [request.input?.plan, call?.content?.input?.plan, writtenPlan(view.rows), view.last];
  return said.find((text) => typeof text === "string" && text.trim() !== "") ?? null;
}

/**
 * The file of plans that was written last.
 * @param {Row[]} rows
 * @returns {string | undefined}
 */
function writtenPlan(rows) {
  for (let at = rows.length - 1; at >= 0; at -= 1) {
    const content = rows[at]?.content;
    const isPlan = content?.tool === "Write" && /\/plans\/[^/]+\.md$/.test(String(content.input?.file_path));
    if (isPlan && typeof content.input.content === "string") return content.input.content;
    if (rows[at]?.kind === "prompt") return undefined;
  }
  return undefined;
}
