// A short notice at the edge. What went wrong stays until somebody has read it.

import { ApiError } from "../net/api.js";
import { h, iconButton } from "./dom.js";

const SHOWN_MS = 3500;

/** @param {string} text */
export function toast(text) {
  const element = show(text, "toast");
  setTimeout(() => element.remove(), SHOWN_MS);
}

/** @param {unknown} error */
export function complain(error) {
  const hint = error instanceof ApiError && error.problem.hint ? ` — ${error.problem.hint}` : "";
  const text = error instanceof ApiError ? error.message : "The server could not be reached";
  const element = show(`${text}${hint}`, "toast bad");
  element.append(iconButton("✕", "Dismiss", () => element.remove()));
}

/**
 * @param {string} text
 * @param {string} classes
 */
function show(text, classes) {
  const element = h("div", { class: classes }, h("span", { textContent: text }));
  document.getElementById("toasts")?.append(element);
  return element;
}

/**
 * Does something and says so if it fails.
 * @template T
 * @param {Promise<T>} work
 * @returns {Promise<T | null>}
 */
export async function attempt(work) {
  try {
    return await work;
  } catch (error) {
    complain(error);
    return null;
  }
}
