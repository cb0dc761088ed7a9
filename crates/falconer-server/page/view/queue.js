// A message that waits: what it says, and how to take it back.

import { api } from "../net/api.js";
import { visible } from "../state/text.js";
import { button, h } from "./dom.js";
import { attempt, toast } from "./toast.js";

/** @import {App} from "../state/app.js" */
/** @import {Row} from "../types.js" */

/**
 * @param {App} app
 * @param {Row} row
 * @param {(text: string) => void} edit
 */
export function queueItem(app, row, edit) {
  const text = String(row.content.text ?? "");
  const how = row.content.delivery === "steer" ? "Steering" : row.content.delivery === "interrupt" ? "Interrupting" : "Queued";
  const cancel = async () => {
    const done = await attempt(api.cancel(app.session ?? "", row.key));
    if (done && !done.cancelled) toast("Too late: the agent already has it");
    return done?.cancelled ?? false;
  };
  return h(
    "li",
    {},
    h("span", { class: "chip", textContent: how }),
    h("span", { class: "queued-text", textContent: visible(text) }),
    button("Edit", async () => (await cancel()) && edit(text), { class: "link" }),
    button("Cancel", cancel, { class: "link" }),
  );
}
