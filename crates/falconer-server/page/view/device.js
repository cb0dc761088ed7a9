// A link for another browser or a phone.

import { api } from "../net/api.js";
import { clock } from "../state/text.js";
import { openDialog } from "./dialog.js";
import { button, h } from "./dom.js";
import { attempt, toast } from "./toast.js";

export async function addDevice() {
  const code = await attempt(api.code());
  if (!code) return;
  const link = new URL(code.path, location.origin).href;
  const field = h("input", { type: "text", readOnly: true, value: link, "aria-label": "The link" });
  const copy = button("Copy", async () => {
    await navigator.clipboard.writeText(link);
    toast("Copied");
  });
  const note = `It signs in once, with your rights, until ${clock(code.expires_at)}. \`falconer login\` prints one with a QR code.`;
  openDialog("Add a device", h("div", { class: "device" }, h("p", { textContent: "Open this link in the other browser:" }), h("div", { class: "rule-line" }, field, copy), h("p", { class: "note", textContent: note })));
  field.select();
}
