// Files that go with the next message: picked, pasted or dropped.

import { api } from "../net/api.js";
import { size, visible } from "../state/text.js";
import { h, iconButton, keyed } from "./dom.js";
import { complain } from "./toast.js";

/** @import {App} from "../state/app.js" */
/** @import {Attachment} from "../types.js" */

/** @typedef {{key: string, name: string, bytes: number, done: Attachment | null}} Held */

export class Attachments {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {Held[]} */
    this.held = [];
    this.input = h("input", { type: "file", multiple: true, hidden: true, "aria-label": "Files to attach" });
    this.input.addEventListener("change", () => {
      this.add(this.input.files ?? []);
      this.input.value = "";
    });
    this.list = h("ul", { class: "attached", "aria-label": "Attached files", hidden: true });
    this.element = h("div", {}, this.input, this.list);
  }

  pick() {
    this.input.click();
  }

  /** @param {ClipboardEvent} event */
  paste(event) {
    const files = event.clipboardData?.files;
    if (!files || files.length === 0) return;
    event.preventDefault();
    this.add(files);
  }

  /** @param {DragEvent} event */
  drop(event) {
    event.preventDefault();
    this.add(event.dataTransfer?.files ?? []);
  }

  /** @param {Iterable<File>} files */
  add(files) {
    for (const file of files) this.upload(file);
  }

  /** @param {File} file */
  async upload(file) {
    /** @type {Held} */
    const held = { key: crypto.randomUUID(), name: file.name || "pasted", bytes: file.size, done: null };
    this.held.push(held);
    this.draw();
    try {
      held.done = await api.attach(file);
    } catch (error) {
      complain(error);
      this.held = this.held.filter((other) => other !== held);
    }
    this.draw();
  }

  draw() {
    this.list.hidden = this.held.length === 0;
    keyed(
      this.list,
      this.held,
      (held) => `${held.key} ${held.done !== null}`,
      (held) =>
        h(
          "li",
          { class: "file" },
          `${visible(held.name)} · ${held.done ? size(held.bytes) : "uploading…"}`,
          iconButton("✕", `Remove ${held.name}`, () => {
            this.held = this.held.filter((other) => other !== held);
            this.draw();
          }),
        ),
    );
  }

  ids() {
    return this.held.flatMap((held) => (held.done?.id ? [held.done.id] : []));
  }

  clear() {
    this.held = [];
    this.draw();
  }
}
