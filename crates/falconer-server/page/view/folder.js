// Picking a folder of the server, below the roots it allows.

import { api } from "../net/api.js";
import { visible } from "../state/text.js";
import { button, h } from "./dom.js";

/** @param {string} start */
export function folderPicker(start) {
  const input = h("input", { id: "folder", type: "text", class: "mono", required: true, value: start, list: "folders", spellcheck: false, autocomplete: "off" });
  const options = h("datalist", { id: "folders" });
  const list = h("ul", { class: "folders", "aria-label": "Folders", hidden: true });
  const browse = button("Browse", () => toggle(), { class: "quiet", "aria-expanded": "false" });
  const problem = h("small", { class: "note bad", role: "status" });

  const toggle = () => {
    list.hidden = !list.hidden;
    browse.setAttribute("aria-expanded", String(!list.hidden));
    if (!list.hidden) open(input.value);
  };

  /** @param {string} path */
  const open = async (path) => {
    problem.textContent = "";
    try {
      const found = await api.folders(path);
      if (found.path) input.value = found.path;
      list.replaceChildren(...(found.path ? [up(found.path, open)] : []), ...found.folders.map((folder) => entry(folder, open)));
    } catch (error) {
      problem.textContent = error instanceof Error ? error.message : String(error);
    }
  };

  return {
    element: h("div", {}, h("div", { class: "rule-line" }, input, browse), options, problem, list),
    value: () => input.value.trim(),
    /** @param {string[]} roots */
    reset: (roots) => {
      options.replaceChildren(...roots.map((root) => h("option", { value: root })));
      if (input.value === "" && roots[0]) input.value = roots[0];
    },
  };
}

/**
 * @param {{name: string, path: string}} folder
 * @param {(path: string) => void} open
 */
function entry(folder, open) {
  return h("li", {}, button(visible(folder.name), () => open(folder.path), { class: "link mono", title: folder.path }));
}

/**
 * Parent folder; above a root there are only the roots.
 * @param {string} path
 * @param {(path: string) => void} open
 */
function up(path, open) {
  const parent = path.slice(0, path.lastIndexOf("/"));
  return h("li", {}, button("..", () => api.folders(parent).then(() => open(parent), () => open("")), { class: "link mono", "aria-label": "Parent folder" }));
}
