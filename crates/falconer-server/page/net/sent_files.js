// Files that were sent with messages. Events only name them; the messages know where they are.

import { api } from "./api.js";

/** @import {Attachment} from "../types.js" */

/** Asked for once per message. @type {Map<string, Promise<Attachment[]>>} */
const known = new Map();

/**
 * @param {string} session
 * @param {string} message
 * @returns {Promise<Attachment[]>}
 */
export function sentFiles(session, message) {
  const before = known.get(message);
  if (before) return before;
  const asked = api.messages(session).then(({ messages }) => messages.find((one) => one.id === message)?.attachments ?? []);
  known.set(message, asked);
  asked.catch(() => known.delete(message));
  return asked;
}
