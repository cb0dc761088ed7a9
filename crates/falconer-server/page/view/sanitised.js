// The only place where HTML of the server becomes elements.
//
// The server has sanitised it already. It is parsed into a document that runs nothing, and only
// what is on this list gets over: a second pair of eyes costs little here.

import { visible } from "../state/text.js";

const TAGS = new Set(
  "A B BLOCKQUOTE BR CODE DD DEL DL DT EM H1 H2 H3 H4 H5 H6 HR I INS KBD LI OL P PRE S SPAN STRONG SUB SUP TABLE TBODY TD TFOOT TH THEAD TR UL".split(
    " ",
  ),
);

/**
 * @param {string} html
 * @returns {DocumentFragment}
 */
export function fromSanitised(html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  const out = document.createDocumentFragment();
  for (const child of parsed.body.childNodes) copy(child, out, 0);
  return out;
}

/**
 * @param {Node} node
 * @param {Node} into
 * @param {number} depth
 */
function copy(node, into, depth) {
  if (depth > 100) return;
  if (node instanceof Text || node.nodeType === Node.TEXT_NODE) {
    into.appendChild(document.createTextNode(visible(node.textContent ?? "")));
    return;
  }
  if (node.nodeType !== Node.ELEMENT_NODE) return;
  const element = /** @type {Element} */ (node);
  const target = TAGS.has(element.tagName) ? into.appendChild(clean(element)) : into;
  if (element.tagName === "IMG") into.appendChild(document.createTextNode(`[image: ${element.getAttribute("alt") ?? ""}]`));
  if (element.tagName === "INPUT") into.appendChild(document.createTextNode(element.hasAttribute("checked") ? "☑ " : "☐ "));
  if (element.tagName === "SCRIPT" || element.tagName === "STYLE") return;
  for (const child of element.childNodes) copy(child, target, depth + 1);
}

/** @param {Element} element */
function clean(element) {
  const made = document.createElement(element.tagName);
  if (made instanceof HTMLAnchorElement) {
    const address = element.getAttribute("href") ?? "";
    if (/^(https?:|mailto:)/i.test(address)) {
      made.href = address;
      made.target = "_blank";
      made.rel = "noopener noreferrer nofollow";
      made.title = address;
    }
  }
  for (const name of ["colspan", "rowspan", "start"]) {
    const value = element.getAttribute(name);
    if (value !== null && /^\d{1,4}$/.test(value)) made.setAttribute(name, value);
  }
  if (made.tagName === "PRE") made.tabIndex = 0;
  return made;
}
