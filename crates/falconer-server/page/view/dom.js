// Elements, made by hand. Text is always text.

/** @typedef {Node | string | null | undefined | false} Child */

/**
 * An element. `on…` are listeners, `data-…`, `aria-…`, `role` and the like attributes, `class`
 * the classes, everything else a property.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) set(element, name, value);
  for (const child of children) if (child) element.append(child);
  return element;
}

/**
 * @param {HTMLElement} element
 * @param {string} name
 * @param {any} value
 */
function set(element, name, value) {
  if (value === undefined || value === null) return;
  if (name === "class") element.className = value;
  else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (name.includes("-") || name === "role" || name === "for" || name === "list") element.setAttribute(name, value);
  else Reflect.set(element, name, value);
}

/**
 * @param {string} label What it does, for everybody.
 * @param {() => void} press
 * @param {Record<string, any>} [props]
 * @returns {HTMLButtonElement}
 */
export function button(label, press, props = {}) {
  return h("button", { type: "button", onclick: press, textContent: label, ...props });
}

/**
 * A button that shows a sign; its name is for those who do not see it, and a hint for those who do.
 * @param {string} sign
 * @param {string} name
 * @param {() => void} press
 * @param {string} [classes]
 */
export function iconButton(sign, name, press, classes = "icon") {
  return h("button", { type: "button", class: classes, title: name, "aria-label": name, onclick: press, textContent: sign });
}

/**
 * Replaces the children, unless they are the same already.
 * @param {Element} parent
 * @param {...Child} children
 */
export function fill(parent, ...children) {
  /** @type {(Node | string)[]} */
  const present = [];
  for (const child of children) if (child) present.push(child);
  parent.replaceChildren(...present);
}

/**
 * A list whose elements stay the same as long as their keys do.
 * @template T
 * @param {Element} parent
 * @param {T[]} items
 * @param {(item: T) => string} keyOf
 * @param {(item: T) => HTMLElement} create
 * @param {(element: HTMLElement, item: T) => void} [update]
 */
export function keyed(parent, items, keyOf, create, update) {
  /** @type {Map<string, HTMLElement>} */
  const old = new Map();
  for (const child of parent.children) {
    if (child instanceof HTMLElement) old.set(child.dataset["key"] ?? "", child);
  }
  let before = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    let element = old.get(key);
    if (element) {
      old.delete(key);
      update?.(element, item);
    } else {
      element = create(item);
      element.dataset["key"] = key;
    }
    if (element === before) before = before.nextElementSibling;
    else parent.insertBefore(element, before);
  }
  for (const element of old.values()) element.remove();
}

/** @param {string} text */
export function announce(text) {
  const region = document.getElementById("announcements");
  if (region) region.textContent = text;
}

/**
 * @param {string} selector
 * @param {ParentNode} [within]
 * @returns {HTMLElement}
 */
export function find(selector, within = document) {
  const element = within.querySelector(selector);
  if (!(element instanceof HTMLElement)) throw new Error(`the page has no ${selector}`);
  return element;
}

/** Whether keys typed now are text for a field. @param {EventTarget | null} target */
export function isField(target) {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
