// What a session used, by kind of token and by model.

import { costOf } from "../state/meter.js";
import { money } from "../state/text.js";
import { openDialog } from "./dialog.js";
import { h } from "./dom.js";

/** @import {App} from "../state/app.js" */

/** @param {App} app */
export function showUsage(app) {
  const { meter } = app.view;
  const { input, output, cache_read, cache_write } = meter.tokens;
  const rows = [
    ["Read, not from the cache", input],
    ["Written", output],
    ["Read from the cache", cache_read],
    ["Written to the cache", cache_write],
  ].map(([name, count]) => line(String(name), Number(count).toLocaleString()));
  rows.push(line("Cost", money(costOf(meter))));
  if (meter.context) rows.push(line("In context (approx.)", meter.context.toLocaleString() + (meter.window ? ` of ${meter.window.toLocaleString()}` : "")));
  const models = Object.entries(meter.models).map(([name, used]) => line(name, money(Number(used?.costUSD ?? used?.cost_usd ?? 0))));
  const body = h("table", { class: "usage" }, h("tbody", {}, ...rows, ...models));
  openDialog("Usage of this session", body);
}

/**
 * @param {string} name
 * @param {string} value
 */
function line(name, value) {
  return h("tr", {}, h("th", { scope: "row", textContent: name }), h("td", { textContent: value }));
}
