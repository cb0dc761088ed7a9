// A dialog with a title. Esc and the button close it; neither ever answers anything.

import { h, iconButton } from "./dom.js";

/**
 * @param {string} title
 * @param {HTMLElement} body
 * @param {string} [classes]
 * @returns {HTMLDialogElement}
 */
export function openDialog(title, body, classes = "") {
  const heading = h("h2", { textContent: title });
  const dialog = h("dialog", { class: classes, "aria-label": title });
  dialog.append(h("header", {}, heading, iconButton("✕", "Close", () => dialog.close())), body);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
