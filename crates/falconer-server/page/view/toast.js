// A short notice at the edge. What went wrong stays until somebody has read it.

import { ApiError } from "../net/api.js";
import { h, iconButton } from "./dom.js";

const SHOWN_MS = 3500;

/** @param {string} text */
export function toast(text) {
  const element = show(text, "toast");
  setTimeout(() => element.remove(), SHOWN_MS);
}

/** What went wrong, and what to do, in one line. @param {unknown} error */
export function wordsOf(error) {
  const hint = error instanceof ApiError && error.problem.hint ? ` — ${error.problem.hint}` : "";
  return `${error instanceof ApiError ? error.message : "The server could not be reached"}${hint}`;
}

/** @param {unknown} error */
export function complain(error) {
  const element = show(wordsOf(error), "toast bad");
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
