// What a person wrote to the agent.

import { sentFiles } from "../../net/sent_files.js";
import { clock, size, visible } from "../../state/text.js";
import { h } from "../dom.js";
import { fileAddress, isPicture, picture } from "./picture.js";

/** @import {App} from "../../state/app.js" */
/** @import {Attachment, Row} from "../../types.js" */
/** @import {Drawn} from "./entry.js" */

/**
 * @param {App} app
 * @param {Row} row
 * @returns {Drawn}
 */
export function promptRow(app, row) {
  const content = row.content;
  const isCancelled = content.state === "cancelled";
  const by = content.by && content.by !== app.me.name ? content.by : "You";
  const how = content.delivery === "steer" ? " · steered" : content.delivery === "interrupt" ? " · interrupted" : "";
  const head = h(
    "div",
    { class: "prompt-head" },
    h("span", { class: "who", textContent: by }),
    h("span", { class: "when", textContent: `${clock(row.time)}${how}${isCancelled ? " · taken back" : ""}` }),
  );
  const text = h("div", { class: "plain", textContent: visible(String(content.text ?? "")) });
  const files = filesOf(app, row);
  const body = h("div", { class: "prompt" }, head, text, files);
  return { label: `${by} wrote`, body, tone: isCancelled ? "user cancelled" : "user" };
}

/**
 * Their names at once, the pictures when it is known where they are.
 * @param {App} app
 * @param {Row} row
 */
function filesOf(app, row) {
  /** @type {Attachment[]} */
  const named = row.content.attachments ?? [];
  if (named.length === 0) return null;
  const place = h("div", { class: "files" }, ...named.map(attachment));
  sentFiles(app.session ?? "", row.key).then(
    (files) => files.length > 0 && place.replaceChildren(...files.map(attachment)),
    () => {},
  );
  return place;
}

/** @param {Attachment} file */
function attachment(file) {
  const name = visible(file.name);
  if (file.id && isPicture(file.media_type)) return picture(file.id, name);
  const label = `${name} · ${size(file.bytes)}`;
  return file.id
    ? h("a", { class: "file", href: fileAddress(file.id), target: "_blank", rel: "noopener", textContent: label })
    : h("span", { class: "file", textContent: label });
}
