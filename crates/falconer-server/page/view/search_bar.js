// Search in the history of the session.

import { findRows } from "../state/search.js";
import { h, iconButton } from "./dom.js";

/** @import {App} from "../state/app.js" */
/** @import {Timeline} from "./timeline.js" */

export class SearchBar {
  /**
   * @param {App} app
   * @param {Timeline} timeline
   */
  constructor(app, timeline) {
    this.app = app;
    this.timeline = timeline;
    this.at = -1;
    /** @type {import("../types.js").Row[]} */
    this.found = [];
    this.input = h("input", { type: "search", placeholder: "Search in this session", "aria-label": "Search in this session" });
    this.count = h("span", { class: "note", role: "status" });
    this.element = h("div", { class: "search", role: "search", hidden: true }, this.input, this.count, iconButton("↑", "Previous match", () => this.step(-1)), iconButton("↓", "Next match", () => this.step(1)), iconButton("✕", "Close the search", () => this.close()));
    this.input.addEventListener("input", () => this.search());
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") this.close();
    });
  }

  open() {
    this.element.hidden = false;
    this.input.focus();
    this.input.select();
  }

  close() {
    this.element.hidden = true;
    this.input.value = "";
    this.timeline.marked = "";
    this.timeline.update();
    this.timeline.scroller.focus();
  }

  search() {
    this.found = findRows(this.app.view, this.input.value);
    this.at = this.found.length;
    this.step(-1);
  }

  /** @param {number} step */
  step(step) {
    const count = this.found.length;
    if (count > 0) {
      this.at = (this.at + step + count) % count;
      const row = this.found[this.at];
      if (row) this.timeline.show(row.seq);
    }
    this.count.textContent = this.input.value === "" ? "" : count === 0 ? "nothing" : `${this.at + 1} of ${count}`;
  }
}
