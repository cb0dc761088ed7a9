// Nobody answers what he has not seen: a card takes presses only after it was in sight, unmoved,
// for a moment, and approvals only after it was read to its end.
//
// A press is one that began on the same button of the same card. It makes no difference whether it
// is made by pointer, touch, key or form.

/** How long a card has to be in sight and still. */
const MOMENT_MS = 700;
/** How often the page checks whether there are cards to watch. */
const LOOK_MS = 100;
/** Whatever holds what is to be approved. */
const CONTENT = "pre, .plan-text, .questions, .path, .asked";

/** @type {WeakMap<Element, Guard>} */
const guards = new WeakMap();
const cards = document.getElementsByClassName("card");
/** When this page last answered anything. */
let answeredAt = -Infinity;
let isWatching = false;
/** The press that is under way. @type {{button: Element | null, counts: boolean} | null} */
let down = null;

/** Disarms every card: each has to be looked at again. */
export function answered() {
  answeredAt = performance.now();
  for (const guard of all()) guard.draw(false);
}

export class Guard {
  /** @param {HTMLElement} card */
  constructor(card) {
    this.card = card;
    /** Since when it is in sight and unmoved. */
    this.since = performance.now();
    /** When it was last looked at. A card that was off the page for a while starts over. */
    this.lookedAt = -Infinity;
    this.place = "";
    this.isRead = false;
    /** Edges of the contents that were in sight. @type {WeakMap<Element, Set<string>>} */
    this.edges = new WeakMap();
    this.hint = note();
    card.addEventListener("click", (event) => this.press(event), true);
    card.addEventListener("submit", (event) => this.submit(event), true);
    guards.set(card, this);
    this.draw(false);
  }

  /** Disarms the card. Call it after what is on the card has changed. */
  reset() {
    this.since = performance.now();
    this.draw(false);
  }

  /** Whether a press may answer now. */
  isArmed() {
    this.look(performance.now());
    return performance.now() - Math.max(this.since, answeredAt) >= MOMENT_MS;
  }

  /** Whether a press may approve now. */
  mayApprove() {
    return this.isArmed() && this.isRead;
  }

  /** @param {number} now */
  look(now) {
    const answers = this.card.querySelector(".answers");
    const place = [this.card, answers].map((part) => placeOf(part)).join(" ");
    const wasAway = now - this.lookedAt > MOMENT_MS;
    this.lookedAt = now;
    if (wasAway || document.hidden || isDisconnected() || place !== this.place || !answers || !isInSight(answers)) {
      this.place = place;
      this.since = now;
    }
    if (!document.hidden && !this.isRead && this.card.isConnected) this.read();
  }

  read() {
    const contents = [...this.card.querySelectorAll(CONTENT)];
    this.isRead = contents.every((part) => this.wasSeen(part)) && !this.card.querySelector(".more");
  }

  /** Beginning and end were in sight, and what scrolls was scrolled. @param {Element} part */
  wasSeen(part) {
    const seen = this.edges.get(part) ?? new Set();
    this.edges.set(part, seen);
    const box = part.getBoundingClientRect();
    if (box.height === 0) return part.textContent === "";
    const clip = clipOf(part);
    const isAtEnd = part.scrollTop + part.clientHeight >= part.scrollHeight - 4;
    if (part.scrollTop <= 4 && box.top >= clip.top - 1 && box.top <= clip.bottom && isBare(part, box.top + 3)) seen.add("top");
    if (isAtEnd && box.bottom <= clip.bottom + 1 && box.bottom >= clip.top && isBare(part, box.bottom - 3)) seen.add("bottom");
    return seen.size === 2;
  }

  /** Takes a press, or stops it. @param {MouseEvent} event */
  press(event) {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    if (!button || !isGuarded(button)) return;
    const isPointer = event instanceof PointerEvent ? event.pointerType !== "" : event.detail > 0;
    const began = isPointer ? down?.button === button && down.counts : down === null || down.counts;
    const counts = approves(button) ? this.mayApprove() : this.isArmed();
    down = null;
    if (began && counts) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  /** @param {SubmitEvent} event */
  submit(event) {
    if (this.mayApprove()) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  /** @param {boolean} isArmed */
  draw(isArmed) {
    const state = !isArmed ? "no" : this.isRead ? "yes" : "unread";
    if (this.card.dataset["armed"] !== state) this.card.dataset["armed"] = state;
    for (const button of this.card.querySelectorAll(".answers button, .always .allow")) {
      const isOff = approves(button) ? state !== "yes" : state === "no";
      const value = String(isOff);
      if (button.getAttribute("aria-disabled") !== value) button.setAttribute("aria-disabled", value);
    }
    this.tell();
  }

  /** Says what is missing; the place stays when it is not, so that nothing moves. */
  tell() {
    const answers = this.card.querySelector(".answers");
    this.hint.style.visibility = this.isRead ? "hidden" : "visible";
    const isNeeded = !this.isRead && this.place !== "" && this.card.isConnected;
    if (isNeeded && answers && this.hint.nextElementSibling !== answers) answers.before(this.hint);
  }
}

/** Every card on the page, unless it is settled. */
function all() {
  return [...cards].flatMap((card) => guards.get(card) ?? []).filter((guard) => !guard.card.classList.contains("settled"));
}

// Cards are watched frame by frame, so that a button never looks ready after its card has moved;
// without cards the page draws no frames for this.
setInterval(() => {
  if (isWatching || all().length === 0) return;
  isWatching = true;
  watch();
}, LOOK_MS);

function watch() {
  const open = all();
  for (const guard of open) guard.draw(guard.isArmed());
  isWatching = open.length > 0;
  if (isWatching) requestAnimationFrame(watch);
}

/** What is pressed, and whether its card took presses when that began. @param {Event} event */
function begin(event) {
  const target = event.target instanceof Element ? event.target : null;
  const guard = all().find((one) => target !== null && one.card.contains(target));
  down = { button: target?.closest("button") ?? null, counts: guard?.isArmed() ?? false };
}

addEventListener("pointerdown", begin, true);
addEventListener(
  "keydown",
  (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    // A key that is held is no new press.
    if (event.repeat) down = { button: null, counts: false };
    else begin(event);
  },
  true,
);
// The click of a key comes before this is called.
addEventListener("keyup", () => setTimeout(() => (down = null)), true);
document.addEventListener("visibilitychange", () => {
  for (const guard of all()) guard.reset();
});

/** Whether what is on the page may be old. */
function isDisconnected() {
  return document.body.classList.contains("disconnected");
}

/** @param {Element} button */
function isGuarded(button) {
  return button.closest(".answers") !== null || button.matches(".always .allow");
}

/** @param {Element} button */
function approves(button) {
  return button.matches(".allow, .approves, [type=submit]");
}

/** @param {Element | null} part */
function placeOf(part) {
  if (!part) return "";
  const { left, top, width } = part.getBoundingClientRect();
  return [left, top, width].map(Math.round).join(",");
}

/** The part of the window in which an element can be seen. @param {Element} part */
function clipOf(part) {
  let top = 0;
  let bottom = innerHeight;
  for (let at = part.parentElement; at; at = at.parentElement) {
    const overflow = getComputedStyle(at).overflowY;
    if (overflow === "visible" || at === document.body) continue;
    const box = at.getBoundingClientRect();
    top = Math.max(top, box.top);
    bottom = Math.min(bottom, box.bottom);
  }
  return { top, bottom };
}

/** @param {Element} part */
function isInSight(part) {
  const box = part.getBoundingClientRect();
  const clip = clipOf(part);
  const isWhole = box.height > 0 && box.top >= clip.top - 1 && box.bottom <= clip.bottom + 1;
  return isWhole && isBare(part, (box.top + box.bottom) / 2);
}

/** Whether nothing covers an element at this height: a notice, a dialog. @param {Element} part @param {number} y */
function isBare(part, y) {
  const { left, right } = part.getBoundingClientRect();
  return [left + 3, (left + right) / 2, right - 3].every((x) => {
    const top = document.elementFromPoint(x, Math.min(Math.max(y, 0), innerHeight - 1));
    return top !== null && (part.contains(top) || top.contains(part));
  });
}

function note() {
  const element = document.createElement("p");
  element.className = "note unread";
  element.textContent = "Scroll to the end of what is asked to allow it.";
  return element;
}
