// Nobody answers what he has not seen: a card takes presses only after it was in sight, unmoved,
// for a moment, and approvals only after every part of it was in sight.
//
// A press is one that began on the same button of the same card. It makes no difference whether it
// is made by pointer, touch, key or form.

/** How long a card has to be in sight and still. */
const MOMENT_MS = 700;
/** How often the page checks whether there are cards to watch. */
const LOOK_MS = 100;
/** Height of the strips in which contents are looked at; less than a line of text. */
const STRIP_PX = 12;
/** How long each strip has to be in sight. */
const GLANCE_MS = 100;
/** Whatever holds what is to be approved. */
const CONTENT = "pre, .plan-text, .questions, .path, .asked";

const SEEN = -Infinity;

/** @type {WeakMap<Element, Guard>} */
const guards = new WeakMap();
const cards = document.getElementsByClassName("card");
/** When this page last answered anything. */
let answeredAt = -Infinity;
/** When a letter was last typed elsewhere. What follows is text, not an answer. */
let typedAt = -Infinity;
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
    /** What was in sight of each part. @type {WeakMap<Element, Strips>} */
    this.seen = new WeakMap();
    /** The first part of which something was not. @type {Element | null} */
    this.unseen = null;
    this.hint = note(() => this.turn());
    card.addEventListener("click", (event) => this.press(event), true);
    card.addEventListener("submit", (event) => this.submit(event), true);
    card.addEventListener("focusin", () => this.focused());
    guards.set(card, this);
    this.draw(false);
  }

  /** Disarms the card. Call it after what is on the card has changed. */
  reset() {
    this.since = performance.now();
    this.isRead = false;
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

  /** A card that gets the focus by a letter shows that it does not take the next one. */
  focused() {
    if (performance.now() - typedAt < MOMENT_MS) this.reset();
  }

  /** Whether a letter is meant for the card, and not part of a text that is being typed. */
  isMeant() {
    const now = performance.now();
    if (now - typedAt >= MOMENT_MS) return true;
    typedAt = now;
    this.reset();
    return false;
  }

  read() {
    const contents = [...this.card.querySelectorAll(CONTENT)].filter((part) => !part.closest("[hidden]"));
    this.unseen = contents.filter((part) => !this.wasSeen(part))[0] ?? null;
    this.isRead = this.unseen === null && !this.card.querySelector(".more");
  }

  /** Every strip was in sight, uncovered. @param {Element} part */
  wasSeen(part) {
    const box = part.getBoundingClientRect();
    if (box.height === 0) return part.textContent === "";
    const strips = this.seen.get(part) ?? new Strips();
    this.seen.set(part, strips);
    strips.look(part, box);
    return strips.isAll();
  }

  /** Shows the next part that was not in sight. */
  turn() {
    const part = this.unseen ?? this.card.querySelector(".more");
    if (!part) return;
    const strip = (this.seen.get(part)?.first() ?? 0) * STRIP_PX;
    part.scrollTo({ top: strip - STRIP_PX, behavior: "instant" });
    const top = part.getBoundingClientRect().top + strip - part.scrollTop;
    const clip = clipOf(part);
    if (top >= clip.top && top + STRIP_PX <= clip.bottom) return;
    let around = part.parentElement;
    while (around && !/auto|scroll/.test(getComputedStyle(around).overflowY)) around = around.parentElement;
    around?.scrollBy({ top: top - clip.top - STRIP_PX, behavior: "instant" });
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

/** Which strips of an element were in sight. */
class Strips {
  constructor() {
    this.width = 0;
    /** Since when each is in sight: `Infinity` if it is not, `SEEN` if it was. @type {number[]} */
    this.since = [];
  }

  /** @param {Element} part @param {DOMRect} box */
  look(part, box) {
    const height = Math.max(part.scrollHeight, part.clientHeight || box.height);
    this.fit(Math.ceil(height / STRIP_PX), box.width);
    const now = performance.now();
    const clip = clipOf(part);
    for (const [at, since] of this.since.entries()) {
      if (since === SEEN) continue;
      const top = box.top + at * STRIP_PX - part.scrollTop;
      // The last one may be lower than the others.
      const middle = top + Math.min(STRIP_PX, height - at * STRIP_PX) / 2;
      const isInside = top >= Math.max(clip.top, box.top) - 2 && middle <= Math.min(clip.bottom, box.bottom);
      const isSeen = isInside && isBare(part, middle);
      if (!isSeen) this.since[at] = Infinity;
      else this.since[at] = now - since >= GLANCE_MS ? SEEN : Math.min(since, now);
    }
  }

  /**
   * Text of another width has other lines; what was added begins where the last ones were.
   * @param {number} count
   * @param {number} width
   */
  fit(count, width) {
    if (this.width === width && this.since.length === count) return;
    const kept = this.width === width && count > this.since.length ? this.since.length - 4 : 0;
    this.width = width;
    this.since = Array.from({ length: count }, (_, at) => (at < kept ? this.since[at] : undefined) ?? Infinity);
  }

  first() {
    return Math.max(0, this.since.findIndex((since) => since !== SEEN));
  }

  isAll() {
    return this.since.every((since) => since === SEEN);
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
    const isOnCard = event.target instanceof Element && event.target.closest(".card") !== null;
    if (event.key.length === 1 && event.key !== " " && !isOnCard) typedAt = performance.now();
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
  // What is left of the window on a phone that has zoomed in, or shows its keyboard.
  let top = visualViewport?.offsetTop ?? 0;
  let bottom = top + (visualViewport?.height ?? innerHeight);
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

/** @param {() => void} turn */
function note(turn) {
  const element = document.createElement("p");
  element.className = "note unread";
  const more = document.createElement("button");
  more.type = "button";
  more.className = "link";
  more.textContent = "Show the next part";
  more.addEventListener("click", turn);
  element.append("View the whole request to allow it. ", more);
  return element;
}
