// The timeline: any number of entries, of which only those near the screen exist as elements.

import { entriesOf } from "../state/fold.js";
import { button, h, keyed } from "./dom.js";
import { drawEntry } from "./rows/entry.js";
import { streamInto } from "./rows/message.js";

/** @import {App} from "../state/app.js" */
/** @import {Entry} from "../state/fold.js" */
/** @import {Row} from "../types.js" */

/** How far beyond the screen rows are drawn, in pixels. */
const BEYOND = 600;
/** As close to the end as this, new rows are followed. */
const NEAR_END = 48;

/** @type {Record<string, number>} */
const GUESS = { message: 90, prompt: 76, action: 34, thought: 30, turn: 34, run: 30, notice: 32, request: 34, unknown: 30 };

export class Timeline {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {Entry[]} */
    this.entries = [];
    /** Where each entry begins; one more than there are entries. */
    this.offsets = new Float64Array(1);
    /** @type {Map<string, number>} */
    this.heights = new Map();
    /** The entries that are drawn: from one, up to but not including another. */
    this.first = 0;
    this.last = 0;
    this.isFollowing = true;
    /** The entry that must not move, and where it is on the screen. @type {{key: string, at: number} | null} */
    this.anchor = null;
    this.focused = "";
    this.marked = "";
    this.newest = 0;
    this.before = h("div", { class: "space" });
    this.after = h("div", { class: "space" });
    this.rows = h("div", { class: "rows", role: "feed", "aria-label": "Timeline", "aria-busy": "false" });
    this.toEnd = button("Jump to latest ↓", () => this.follow(), { class: "to-end", hidden: true });
    this.scroller = h("div", { class: "timeline", tabIndex: 0, role: "region", "aria-label": "Timeline" }, this.before, this.rows, this.after);
    this.element = h("div", { class: "timeline-frame" }, this.scroller, this.toEnd);
    this.scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.sizes = new ResizeObserver((changes) => this.resized(changes));
    new ResizeObserver(() => this.draw()).observe(this.scroller);
  }

  /** Another session. */
  reset() {
    this.heights.clear();
    this.entries = [];
    this.offsets = new Float64Array(1);
    this.first = 0;
    this.last = 0;
    this.isFollowing = true;
    this.anchor = null;
    this.marked = "";
    this.focused = "";
    this.rows.replaceChildren();
  }

  /** The view changed. */
  update() {
    const folds = this.app.folds;
    this.entries = entriesOf(this.app.view, (key, standard) => folds.get(key) ?? standard);
    this.measure();
    this.draw();
  }

  /** Text came, and nothing else: only the rows it belongs to are touched. @param {Set<Row>} rows */
  grow(rows) {
    for (const row of rows) {
      const element = this.elementOf(row.key);
      if (element ? !streamInto(element, row) : !this.isFar(row.key)) return this.update();
    }
  }

  /** Whether an entry is known, but too far away to be drawn. @param {string} key */
  isFar(key) {
    const index = this.entries.findLastIndex((entry) => entry.key === key);
    return index >= 0 && (index < this.first || index >= this.last);
  }

  /** Where everything is, from an entry on whose place is known. @param {number} [from] */
  measure(from = 0) {
    const count = this.entries.length;
    if (this.offsets.length < count + 1) {
      from = 0;
      this.offsets = new Float64Array((count + 1) * 2);
    }
    let sum = from === 0 ? 0 : this.offset(from);
    for (let index = from; index < count; index += 1) {
      const entry = /** @type {Entry} */ (this.entries[index]);
      this.offsets[index] = sum;
      sum += this.heights.get(entry.key) ?? guess(entry);
    }
    this.offsets[count] = sum;
  }

  /** @param {number} index */
  offset(index) {
    return this.offsets[index] ?? 0;
  }

  /** The entry at a height of the whole list. @param {number} y */
  indexAt(y) {
    let low = 0;
    let high = this.entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.offset(middle + 1) <= y) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  draw() {
    const total = this.offset(this.entries.length);
    const height = this.scroller.clientHeight;
    const top = this.topNow(total, height);
    const first = this.indexAt(top - BEYOND);
    const last = Math.min(this.entries.length, this.indexAt(top + height + BEYOND) + 1);
    this.before.style.height = `${this.offset(first)}px`;
    this.after.style.height = `${Math.max(0, total - this.offset(last))}px`;
    this.first = first;
    this.last = last;
    const shown = this.entries.slice(first, last);
    keyed(this.rows, shown, (entry) => entry.key, (entry) => this.create(entry), (element, entry) => this.refresh(element, entry));
    if (Math.abs(this.scroller.scrollTop - top) > 1) this.scroller.scrollTop = top;
    this.toEnd.hidden = this.isFollowing || total - top - height < NEAR_END;
  }

  /**
   * @param {number} total
   * @param {number} height
   */
  topNow(total, height) {
    if (this.isFollowing) return Math.max(0, total - height + PADDING);
    if (!this.anchor) return this.scroller.scrollTop;
    const key = this.anchor.key;
    const index = this.entries.findIndex((entry) => entry.key === key);
    return index < 0 ? this.scroller.scrollTop : Math.max(0, this.offset(index) - this.anchor.at);
  }

  /** @param {Entry} entry */
  create(entry) {
    const element = h("article", { class: "row", tabIndex: -1 });
    element.addEventListener("focusin", () => {
      this.focused = entry.key;
    });
    this.refresh(element, entry);
    this.sizes.observe(element);
    return element;
  }

  /**
   * @param {HTMLElement} element
   * @param {Entry} entry
   */
  refresh(element, entry) {
    const stamp = `${entry.stamp} ${this.marked === entry.key}`;
    if (element.dataset["stamp"] === stamp) return;
    element.dataset["stamp"] = stamp;
    element.dataset["seq"] = String(entry.seq);
    element.classList.toggle("marked", this.marked === entry.key);
    drawEntry(this.app, element, entry, () => this.toggle(entry));
  }

  /** @param {Entry} entry */
  toggle(entry) {
    this.holdStill(entry.key);
    this.app.folds.set(entry.key, !entry.isOpen);
    this.update();
  }

  scrolled() {
    const { scrollTop, clientHeight, scrollHeight } = this.scroller;
    this.isFollowing = scrollHeight - scrollTop - clientHeight < NEAR_END;
    const index = this.indexAt(scrollTop);
    const entry = this.entries[index];
    this.anchor = entry ? { key: entry.key, at: this.offset(index) - scrollTop } : null;
    this.draw();
  }

  /** @param {ResizeObserverEntry[]} changes */
  resized(changes) {
    /** @type {Set<string>} */
    const changed = new Set();
    for (const change of changes) {
      const element = /** @type {HTMLElement} */ (change.target);
      if (!element.isConnected) {
        this.sizes.unobserve(element);
        continue;
      }
      const key = element.dataset["key"] ?? "";
      const height = change.borderBoxSize[0]?.blockSize ?? element.offsetHeight;
      if (Math.abs((this.heights.get(key) ?? -1) - height) < 0.5) continue;
      this.heights.set(key, height);
      changed.add(key);
    }
    if (changed.size === 0) return;
    const shown = this.entries.slice(this.first, this.last);
    this.measure(this.first + Math.max(0, shown.findIndex((entry) => changed.has(entry.key))));
    this.draw();
  }

  /** Keeps an entry where it is on the screen while others change. @param {string} key */
  holdStill(key) {
    const index = this.entries.findIndex((entry) => entry.key === key);
    if (index < 0) return;
    this.isFollowing = false;
    this.anchor = { key, at: this.offset(index) - this.scroller.scrollTop };
  }

  follow() {
    this.isFollowing = true;
    this.anchor = null;
    this.draw();
  }

  /** Shows the row an event belongs to. @param {number} seq */
  show(seq) {
    const path = pathTo(this.app.view.rows, seq);
    const row = path[path.length - 1];
    if (!row) return;
    for (const parent of path.slice(0, -1)) this.app.folds.set(parent.key, true);
    this.update();
    const group = this.entries.find((entry) => entry.group.includes(row));
    if (group && !group.isOpen) {
      this.app.folds.set(group.key, true);
      this.update();
    }
    this.mark(row.key);
  }

  /** @param {string} key */
  mark(key) {
    this.marked = key;
    this.isFollowing = false;
    this.anchor = { key, at: this.scroller.clientHeight / 4 };
    this.draw();
    this.draw();
  }

  /** Moves the focus to another row. @param {number} step */
  move(step) {
    const at = this.entries.findIndex((entry) => entry.key === this.focused);
    const start = at < 0 ? (step > 0 ? -1 : this.entries.length) : at;
    const entry = this.entries[Math.min(this.entries.length - 1, Math.max(0, start + step))];
    if (!entry) return;
    this.reveal(entry.key);
    const element = this.elementOf(entry.key);
    element?.focus({ preventScroll: true });
    this.focused = entry.key;
  }

  /** @param {string} key */
  reveal(key) {
    const index = this.entries.findIndex((entry) => entry.key === key);
    const { scrollTop, clientHeight } = this.scroller;
    const top = this.offset(index);
    const bottom = this.offset(index + 1);
    if (top >= scrollTop && bottom <= scrollTop + clientHeight) return;
    this.isFollowing = false;
    this.anchor = { key, at: top < scrollTop ? 16 : Math.max(16, clientHeight - (bottom - top) - 16) };
    this.draw();
  }

  /** @param {string} key */
  elementOf(key) {
    for (const child of this.rows.children) {
      if (child instanceof HTMLElement && child.dataset["key"] === key) return child;
    }
    return null;
  }

  toggleFocused() {
    const entry = this.entries.find((one) => one.key === this.focused);
    if (entry) this.toggle(entry);
  }

  /** @returns {Entry | undefined} */
  focusedEntry() {
    return this.entries.find((one) => one.key === this.focused);
  }
}

/** Space below the last row, as in the style sheet. */
const PADDING = 40;

/** @param {Entry} entry */
function guess(entry) {
  return entry.row ? (GUESS[entry.row.kind] ?? 34) : 34;
}

/**
 * The rows that lead to an event: sub-agents first, the row itself last.
 * @param {Row[]} rows
 * @param {number} seq
 * @returns {Row[]}
 */
export function pathTo(rows, seq) {
  /** @type {Row[]} */
  let nearest = [];
  for (const row of rows) {
    if (row.seqs.includes(seq)) return [row];
    const below = pathTo(row.children, seq);
    const found = below[below.length - 1];
    if (found?.seqs.includes(seq)) return [row, ...below];
    if (row.seq < seq) nearest = [row];
  }
  return nearest;
}
