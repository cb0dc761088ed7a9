// One reducer over the event log: the same events give the same view, in one go or piece by piece.
//
// `apply` changes the view it is given, because a session may have many thousands of rows; it
// reads no clock, asks nobody and decides by the event alone.

import { settleRequest, openRequest } from "./requests.js";
import { addTokens, meterOf } from "./meter.js";

/** @import {FalconerEvent, Row, RowKind, RequestView, Task} from "../types.js" */

/**
 * @typedef {object} View What the log of a session says.
 * @property {number} seq The last event in it.
 * @property {Row[]} rows
 * @property {Map<string, Row>} items Rows of items, by the item's id.
 * @property {Map<string, Row>} queue Prompts the engine was not given yet.
 * @property {Map<string, RequestView>} requests
 * @property {Map<string, Row>} asked Rows that show a request.
 * @property {number} open How many requests wait for an answer.
 * @property {Map<string, Task>} tasks
 * @property {{engine: string, version?: string, model?: string, mode?: string, cwd: string, alive: boolean} | null} run
 * @property {boolean} busy A turn is under way.
 * @property {string | null} title
 * @property {import("./meter.js").Meter} meter
 * @property {string} last The last sentence of the agent.
 */

/** @returns {View} */
export function emptyView() {
  return {
    seq: 0,
    rows: [],
    items: new Map(),
    queue: new Map(),
    requests: new Map(),
    asked: new Map(),
    open: 0,
    tasks: new Map(),
    run: null,
    busy: false,
    title: null,
    meter: meterOf(),
    last: "",
  };
}

/** @typedef {(view: View, event: FalconerEvent) => void} Step */

/** @type {Record<string, Step>} */
const STEPS = {
  "run.started": runStarted,
  "run.completed": runCompleted,
  "turn.started": turnStarted,
  "turn.completed": turnCompleted,
  "item.started": itemStarted,
  "item.completed": itemCompleted,
  "permission.requested": requested,
  "permission.resolved": resolved,
  "question.requested": requested,
  "question.resolved": resolved,
  "task.started": task,
  "task.progress": task,
  "task.completed": task,
  "session.changed": sessionChanged,
  retry: notice,
  limit: notice,
  warning: notice,
};

/**
 * Adds one stored event. An event that is in the view already changes nothing.
 * @param {View} view
 * @param {FalconerEvent} event
 * @returns {boolean} Whether it was new.
 */
export function apply(view, event) {
  if (event.seq <= view.seq) return false;
  view.seq = event.seq;
  const step = Object.hasOwn(STEPS, event.type) ? STEPS[event.type] : unknown;
  (step ?? unknown)(view, event);
  return true;
}

/**
 * A row, put where it belongs: under its sub-agent, or at the end.
 * @param {View} view
 * @param {FalconerEvent} event
 * @param {RowKind} kind
 * @param {string} key
 * @param {any} content
 * @returns {Row}
 */
function addRow(view, event, kind, key, content) {
  const row = newRow(event, kind, key, content);
  place(view, row);
  return row;
}

/**
 * @param {FalconerEvent} event
 * @param {RowKind} kind
 * @param {string} key
 * @param {any} content
 * @returns {Row}
 */
function newRow(event, kind, key, content) {
  return {
    key,
    kind,
    seq: event.seq,
    seqs: [event.seq],
    time: event.time,
    turn: event.turn ?? null,
    run: event.run,
    parent: event.parent ?? null,
    version: 1,
    open: false,
    content,
    stream: null,
    children: [],
    requests: [],
  };
}

/**
 * @param {View} view
 * @param {Row} row
 */
function place(view, row) {
  const agent = row.parent === null ? undefined : view.items.get(row.parent);
  if (!agent) {
    view.rows.push(row);
    return;
  }
  agent.children.push(row);
  touchUp(view, agent);
}

/**
 * Marks a row, and the sub-agents it is in, as changed.
 * @param {View} view
 * @param {Row} row
 */
function touchUp(view, row) {
  /** @type {Row | undefined} */
  let at = row;
  for (let depth = 0; at && depth < 32; depth += 1) {
    at.version += 1;
    at = at.parent === null ? undefined : view.items.get(at.parent);
  }
}

/** @type {Step} */
function itemStarted(view, event) {
  const { id, content } = event.data;
  const known = view.items.get(id);
  if (known) {
    update(view, known, event, content);
    return;
  }
  if (content.type === "prompt") {
    const row = newRow(event, "prompt", id, content);
    row.open = true;
    view.queue.set(id, row);
    return;
  }
  const row = newRow(event, kindOf(content), id, content);
  row.open = true;
  place(view, row);
  view.items.set(id, row);
}

/** @type {Step} */
function itemCompleted(view, event) {
  const { id, content } = event.data;
  if (content.type === "prompt") {
    promptCompleted(view, event);
    return;
  }
  const known = view.items.get(id);
  if (known) {
    update(view, known, event, content);
    known.open = false;
    known.stream = null;
    known.ended = event.time;
  } else {
    view.items.set(id, addRow(view, event, kindOf(content), id, content));
  }
  if (content.type === "message" && !event.parent) view.last = content.text;
}

/** A prompt is shown where the engine got it, not where somebody typed it. @type {Step} */
function promptCompleted(view, event) {
  const { id, content } = event.data;
  const waiting = view.queue.get(id);
  const row = waiting ?? newRow(event, "prompt", id, content);
  view.queue.delete(id);
  if (view.items.has(id)) return;
  if (waiting) {
    row.seqs.push(event.seq);
    row.content = { ...waiting.content, ...content };
    row.seq = event.seq;
    row.time = event.time;
  }
  row.version += 1;
  row.open = false;
  view.rows.push(row);
  view.items.set(id, row);
}

/**
 * @param {View} view
 * @param {Row} row
 * @param {FalconerEvent} event
 * @param {any} content
 */
function update(view, row, event, content) {
  row.content = content;
  row.seqs.push(event.seq);
  touchUp(view, row);
}

/**
 * @param {any} content
 * @returns {RowKind}
 */
function kindOf(content) {
  switch (content.type) {
    case "message":
    case "thought":
    case "injected":
    case "summary":
    case "action":
    case "prompt":
      return content.type;
    default:
      return "unknown";
  }
}

/** @type {Step} */
function requested(view, event) {
  const request = openRequest(event);
  view.requests.set(request.id, request);
  const action = request.tool_use_id ? view.items.get(request.tool_use_id) : undefined;
  const row = action ?? addRow(view, event, "request", `request:${request.id}`, null);
  row.requests.push(request.id);
  if (action) {
    row.seqs.push(event.seq);
    touchUp(view, row);
  }
  view.asked.set(request.id, row);
  countOpen(view);
}

/** @type {Step} */
function resolved(view, event) {
  const request = view.requests.get(event.data.id);
  if (!request) return unknown(view, event);
  settleRequest(request, event);
  const row = view.asked.get(request.id);
  countOpen(view);
  if (!row) return;
  row.seqs.push(event.seq);
  touchUp(view, row);
}

/** Calls that have not ended look different while something is asked. @param {View} view */
function countOpen(view) {
  const before = view.open;
  view.open = [...view.requests.values()].filter((request) => request.resolved === null && !request.over).length;
  if (before > 0 === view.open > 0) return;
  for (const row of view.items.values()) if (row.open && row.kind === "action") touchUp(view, row);
}

/** @type {Step} */
function turnStarted(view, event) {
  view.busy = true;
  if (view.run && event.data.model) view.run.model = event.data.model;
}

/** @type {Step} */
function turnCompleted(view, event) {
  view.busy = false;
  const cost = addTokens(view.meter, event.data);
  addRow(view, event, "turn", `turn:${event.seq}`, { ...event.data, cost });
}

/** @type {Step} */
function runStarted(view, event) {
  const { engine, version, model, permission_mode: mode, cwd } = event.data;
  view.run = { engine, version, model, mode, cwd, alive: true };
  view.meter.runCost = 0;
  addRow(view, event, "run", `run:${event.seq}`, { began: true, ...event.data });
}

/** What was open when the process ended stays open for ever: it is closed here. @type {Step} */
function runCompleted(view, event) {
  view.busy = false;
  if (view.run) view.run.alive = false;
  view.meter.earlierCost += Math.max(view.meter.runCost, event.data.cost_usd ?? 0);
  view.meter.runCost = 0;
  for (const row of view.items.values()) if (row.open) cut(view, row);
  for (const open of view.tasks.values()) if (!open.end) open.end = "aborted";
  for (const request of view.requests.values()) request.over = true;
  countOpen(view);
  addRow(view, event, "run", `run:${event.seq}`, { began: false, ...event.data });
}

/**
 * @param {View} view
 * @param {Row} row
 */
function cut(view, row) {
  row.open = false;
  row.cut = true;
  touchUp(view, row);
}

/** @type {Step} */
function task(view, event) {
  const known = view.tasks.get(event.data.id);
  view.tasks.set(event.data.id, { ...known, ...event.data });
  const row = view.items.get(event.data.tool_use_id ?? known?.tool_use_id ?? "");
  if (!row) {
    if (event.type !== "task.progress") notice(view, event);
    return;
  }
  row.seqs.push(event.seq);
  touchUp(view, row);
}

/** @type {Step} */
function sessionChanged(view, event) {
  const { what, to } = event.data;
  if (what === "title") view.title = to;
  if (what === "model" && view.run) view.run.model = to;
  if (what === "mode" && view.run) view.run.mode = to;
  if (what === "compacted" && event.data.tokens_after) view.meter.context = event.data.tokens_after;
  notice(view, event);
}

/** @type {Step} */
function notice(view, event) {
  const content = { type: event.type, ...event.data };
  addRow(view, event, "notice", `event:${event.seq}`, content);
}

/** Kept and shown, because a newer server may say more than this page knows. @type {Step} */
function unknown(view, event) {
  addRow(view, event, "unknown", `event:${event.seq}`, { type: event.type, data: event.data });
}
