// A picture the server keeps: small in its row, in full behind it.

import { h } from "../dom.js";

/** What may be shown; the server serves nothing else as a picture. @param {string} mediaType */
export function isPicture(mediaType) {
  return /^image\/(png|jpeg|gif|webp)$/.test(mediaType);
}

/** @param {string} id */
export function fileAddress(id) {
  return `/v1/attachments/${encodeURIComponent(id)}`;
}

/**
 * @param {string} id
 * @param {string} alt
 */
export function picture(id, alt) {
  const address = fileAddress(id);
  return h("a", { class: "picture", href: address, target: "_blank", rel: "noopener" }, h("img", { src: address, alt, loading: "lazy" }));
}
