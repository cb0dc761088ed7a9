// The server's routes, one function each.

/** @import {Me, Message, Problem, Request, Rule, Session, Attachment, FalconerEvent} from "../types.js" */

/** A refusal of the server, with its own words. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {Problem} problem
   */
  constructor(status, problem) {
    super(problem.detail || problem.title || `the server answered ${status}`);
    this.status = status;
    this.problem = problem;
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<any>}
 */
async function call(method, path, body) {
  /** @type {RequestInit} */
  const init = { method, headers: { Accept: "application/json" } };
  if (body !== undefined) {
    init.headers = { Accept: "application/json", "Content-Type": "application/json" };
    init.body = JSON.stringify(body);
  }
  return answerOf(await fetch(path, init));
}

/** @param {Response} response */
async function answerOf(response) {
  const text = await response.text();
  /** @type {any} */
  let value = null;
  try {
    value = text ? JSON.parse(text) : null;
  } catch {
    value = { detail: text.slice(0, 300) };
  }
  if (!response.ok) throw new ApiError(response.status, value ?? {});
  return value;
}

const id = encodeURIComponent;

export const api = {
  /** @param {string} code */
  login: (code) => call("POST", "/v1/login", { code }),
  logout: () => call("POST", "/v1/logout", {}),
  /** @returns {Promise<Me>} */
  me: () => call("GET", "/v1/me"),

  /** @param {string} query @returns {Promise<{sessions: Session[], next?: string}>} */
  sessions: (query) => call("GET", `/v1/sessions?${query}`),
  /** @param {object} wish @returns {Promise<Session>} */
  create: (wish) => call("POST", "/v1/sessions", wish),
  /** @param {string} session @param {object} change @returns {Promise<Session>} */
  change: (session, change) => call("PATCH", `/v1/sessions/${id(session)}`, change),
  /** @param {string} session */
  remove: (session) => call("DELETE", `/v1/sessions/${id(session)}`),
  /** @param {string} session @param {number} at @returns {Promise<Session>} */
  fork: (session, at) => call("POST", `/v1/sessions/${id(session)}/fork`, at > 0 ? { at } : {}),
  /** @param {string} session */
  close: (session) => call("POST", `/v1/sessions/${id(session)}/close`, {}),
  /** @param {string} session */
  resume: (session) => call("POST", `/v1/sessions/${id(session)}/resume`, {}),
  /** @param {string} session */
  interrupt: (session) => call("POST", `/v1/sessions/${id(session)}/interrupt`, {}),
  /** @param {string} session @param {object} message @returns {Promise<{message: Message, duplicate: boolean}>} */
  send: (session, message) => call("POST", `/v1/sessions/${id(session)}/messages`, message),
  /** @param {string} session @returns {Promise<{messages: Message[]}>} */
  messages: (session) => call("GET", `/v1/sessions/${id(session)}/messages`),
  /** @param {string} session @param {string} message @returns {Promise<{cancelled: boolean}>} */
  cancel: (session, message) => call("DELETE", `/v1/sessions/${id(session)}/messages/${id(message)}`),
  /** @param {string} session @param {number} seq @returns {Promise<FalconerEvent | undefined>} */
  event: async (session, seq) =>
    (await call("GET", `/v1/sessions/${id(session)}/events?after=${seq - 1}&limit=1`)).events[0],
  /** The end of a log: what was finished. @param {string} session @param {number} head @param {number} count @returns {Promise<{events: FalconerEvent[]}>} */
  tail: (session, head, count) =>
    call("GET", `/v1/sessions/${id(session)}/events?after=${Math.max(0, head - count)}&limit=${count}&types=item.completed`),
  /** @param {string} session @param {string} task */
  stopTask: (session, task) => call("POST", `/v1/sessions/${id(session)}/tasks/${id(task)}/stop`, {}),
  /** @param {string} session @returns {Promise<{commands: {name: string, description?: string, argument_hint?: string}[], models: {id: string, name?: string}[]}>} */
  commands: (session) => call("GET", `/v1/sessions/${id(session)}/commands`),

  /** @param {string} request @param {string} digest @param {object} verdict @returns {Promise<{request: Request}>} */
  answer: (request, digest, verdict) => call("POST", `/v1/requests/${id(request)}/answer`, { digest, verdict, shown: "page" }),

  /** @returns {Promise<{rules: Rule[]}>} */
  rules: () => call("GET", "/v1/rules"),
  /** A link that signs another browser in, once. @returns {Promise<{path: string, expires_at: string}>} */
  code: () => call("POST", "/v1/codes", {}),
  /** The same for who has a token and no cookie yet. @param {string} token @returns {Promise<{path: string}>} */
  codeFor: async (token) => {
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
    return answerOf(await fetch("/v1/codes", { method: "POST", headers, body: "{}", credentials: "omit" }));
  },

  /** @param {object} rule @returns {Promise<Rule>} */
  addRule: (rule) => call("POST", "/v1/rules", rule),
  /** @param {string} rule @param {object} change @returns {Promise<Rule>} */
  changeRule: (rule, change) => call("PATCH", `/v1/rules/${id(rule)}`, change),
  /** @param {string} rule */
  removeRule: (rule) => call("DELETE", `/v1/rules/${id(rule)}`),
  /** @param {object} question @returns {Promise<{effect: string, because: string, suggestions?: {width: string, rules: string[]}[], would_have_allowed?: {allows_this: boolean, allowed: number, of: number}}>} */
  explain: (question) => call("POST", "/v1/rules/explain", question),

  /** @param {string} cwd @returns {Promise<import("../types.js").ProjectTrust>} */
  trust: (cwd) => call("GET", `/v1/trust?cwd=${id(cwd)}`),
  /** @param {string} cwd @param {string} digest @param {"grant" | "revoke"} verdict @returns {Promise<import("../types.js").ProjectTrust>} */
  decideTrust: (cwd, digest, verdict) => call("POST", "/v1/trust", { cwd, digest, verdict }),

  /** @returns {Promise<any>} */
  engines: () => call("GET", "/v1/engines"),
  /** @returns {Promise<any>} */
  models: () => call("GET", "/v1/models"),
  /** @param {string} path @returns {Promise<{path?: string, folders: {name: string, path: string}[]}>} */
  folders: (path) => call("GET", `/v1/folders?path=${id(path)}`),
  /** @param {string[]} texts @returns {Promise<{html: string[]}>} */
  render: (texts) => call("POST", "/v1/render", { texts }),
  /** @param {File} file @returns {Promise<Attachment>} */
  attach: async (file) => {
    const headers = {
      "Content-Type": file.type || "application/octet-stream",
      "X-Falconer-Name": id(file.name || "pasted"),
    };
    return answerOf(await fetch("/v1/attachments", { method: "POST", headers, body: file }));
  },
};
