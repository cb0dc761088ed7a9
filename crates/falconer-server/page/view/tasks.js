// Tasks in the background stay in sight, also when the turn that started them is over.

import { api } from "../net/api.js";
import { visible } from "../state/text.js";
import { button, h, keyed } from "./dom.js";
import { attempt } from "./toast.js";

/** @import {App} from "../state/app.js" */

/** @param {App} app */
export function taskStrip(app) {
  const list = h("ul", { class: "tasks", "aria-label": "Tasks in the background" });
  const update = () => {
    const open = [...app.view.tasks.values()].filter((task) => task.in_background && !task.end);
    list.hidden = open.length === 0;
    keyed(
      list,
      open,
      (task) => task.id,
      (task) =>
        h(
          "li",
          {},
          h("span", { class: "status running", "aria-hidden": "true" }),
          h("span", { class: "chip", textContent: task.kind === "local_agent" ? "Agent" : "Shell" }),
          h("span", { class: "task-name", textContent: visible(task.description ?? task.id) }),
          h("span", { class: "fold-names" }),
          button("Stop", () => attempt(api.stopTask(app.session ?? "", task.id)), { class: "link" }),
        ),
      (element, task) => {
        const said = element.querySelector(".fold-names");
        if (said) said.textContent = visible(task.summary ?? "");
      },
    );
  };
  return { element: list, update };
}
