// The keys, on one sheet.

import { openDialog } from "./dialog.js";
import { h } from "./dom.js";

/** @type {[string, [string, string][]][]} */
const KEYS = [
  ["Anywhere", [["?", "this sheet"], ["n", "new session"], ["g a", "approvals"], ["g r", "rules"], ["g h", "home"], ["[ and ]", "previous and next session"], ["p", "next request that needs you"], ["c", "write to the agent"], ["/", "search in this session"], ["Ctrl .", "stop the agent"], ["Esc", "leave a field or a dialog; never answers"]]],
  ["In the timeline", [["j and k", "next and previous row"], ["Enter or o", "open and close a row"], ["r", "raw JSON"], ["y", "copy a link"], ["u", "copy as curl"], ["G", "newest row"]]],
  ["On a permission card", [["d", "deny"], ["x", "deny and stop"], ["e", "edit"], ["w", "always"], ["a", "allow once"]]],
  ["In the composer", [["Enter", "send"], ["Shift Enter", "new line"], ["Alt Enter", "steer"], ["/", "commands"]]],
];

export function showHelp() {
  const parts = KEYS.map(([name, keys]) =>
    h("section", {}, h("h3", { textContent: name }), h("dl", { class: "keys" }, ...keys.flatMap(([key, what]) => [h("dt", {}, ...key.split(" ").map(keyOf)), h("dd", { textContent: what })]))),
  );
  openDialog("Keys", h("div", { class: "key-sheet" }, ...parts));
}

/** @param {string} word */
function keyOf(word) {
  return word === "and" || word === "or" ? h("span", { textContent: ` ${word} ` }) : h("kbd", { textContent: word });
}
