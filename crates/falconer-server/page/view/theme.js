// Dark, light, or as the system is.

import { h } from "./dom.js";

const PLACE = "falconer.theme";

/** Applies what was chosen before. */
export function applyTheme() {
  const chosen = localStorage.getItem(PLACE);
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset["theme"] = chosen;
  else delete document.documentElement.dataset["theme"];
}

export function themeSwitch() {
  const options = [
    ["", "System"],
    ["light", "Light"],
    ["dark", "Dark"],
  ].map(([value, name]) => h("option", { value, textContent: name }));
  const select = h("select", { class: "switch", "aria-label": "Theme" }, ...options);
  select.value = localStorage.getItem(PLACE) ?? "";
  select.addEventListener("change", () => {
    if (select.value === "") localStorage.removeItem(PLACE);
    else localStorage.setItem(PLACE, select.value);
    applyTheme();
  });
  return select;
}
