// A turn that failed or was interrupted: a line at the end of the timeline, with the ways on.

import { api } from "../net/api.js";
import { troubleOf } from "../state/inbox.js";
import { visible } from "../state/text.js";
import { button, h } from "./dom.js";
import { attempt } from "./toast.js";

/** @import {App} from "../state/app.js" */
/** @import {Session} from "../types.js" */

/** @param {App} app */
export function troubleLine(app) {
  const text = h("span", {});
  const retry = button("Retry", () => act(retryLast), { title: "Sends your last message again" });
  const resume = button("Resume", () => act(api.resume), { title: "Starts the agent again without a message" });
  const element = h("div", { class: "trouble", role: "status", hidden: true }, text, retry, resume);
  /** @param {(session: string) => Promise<unknown>} what */
  const act = async (what) => {
    if (app.session === null) return;
    retry.disabled = resume.disabled = true;
    await attempt(what(app.session));
    retry.disabled = resume.disabled = false;
  };
  const update = () => {
    const session = app.current();
    const trouble = session && isAtRest(session) ? troubleOf(session) : null;
    element.hidden = trouble === null || !app.may("operate");
    if (!session || trouble === null) return;
    const why = session.last_turn?.failure?.text ?? "";
    const words = visible(`The last turn ${trouble === "failed" ? "failed" : "was interrupted"}${why ? `: ${why}` : ""}`);
    if (text.textContent !== words) text.textContent = words;
    resume.hidden = session.state === "ready";
  };
  return { element, update };
}

/** @param {Session} session */
function isAtRest(session) {
  return session.state !== "running" && session.state !== "waiting";
}

/**
 * The last message that the agent was given, once more, as a new one.
 * @param {string} session
 */
async function retryLast(session) {
  const { messages } = await api.messages(session);
  const last = messages.filter((message) => message.state === "done" || message.state === "interrupted" || message.state === "sent").at(-1);
  if (!last) throw new Error("There is no message to send again");
  const attachments = (last.attachments ?? []).flatMap((file) => (file.id ? [file.id] : []));
  await api.send(session, { client_msg_id: crypto.randomUUID(), text: last.text, attachments, delivery: "queue" });
}
