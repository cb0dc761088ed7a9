// The reducer over every recorded session, beside the snapshots of the Rust side.

import assert from "node:assert/strict";
import test from "node:test";

import { applyDelta } from "../../page/state/deltas.js";
import { entriesOf } from "../../page/state/fold.js";
import { apply, emptyView } from "../../page/state/reducer.js";
import { walk } from "../../page/state/search.js";
import { action, isStored, log, recordedLogs, snapshotOf } from "./logs.mjs";

function viewOf(events) {
  const view = emptyView();
  for (const event of events) isStored(event) ? apply(view, event) : applyDelta(view, event);
  return view;
}

function allRows(view) {
  const rows = [];
  walk(view.rows, (row) => rows.push(row));
  return rows;
}

const logs = recordedLogs();

test("every recorded session is told completely", () => {
  assert.ok(logs.length > 200);
  for (const { name, events } of logs) {
    const rows = allRows(viewOf(events));
    const ids = new Set(events.filter((event) => event.type.startsWith("item.") && isStored(event)).map((event) => event.data.id));
    const shown = new Set(rows.map((row) => row.key));
    for (const id of ids) assert.ok(shown.has(id), `${name}: ${id} is not shown`);
    assert.equal(rows.filter((row) => row.open).length, 0, `${name}: something is open after the end`);
    assert.equal(new Set(rows.map((row) => row.key)).size, rows.length, `${name}: a key is used twice`);
  }
});

test("messages and results are those of the snapshots, in the same order", () => {
  let compared = 0;
  for (const { name, events } of logs) {
    const lines = snapshotOf(name);
    const expected = lines.filter((line) => / item\.completed message /.test(line)).length;
    const rows = allRows(viewOf(events));
    assert.equal(rows.filter((row) => row.kind === "message" && !row.cut).length, expected, name);
    const turns = lines.filter((line) => / turn\.completed ok=/.test(line)).map((line) => line.includes("ok=true"));
    assert.deepEqual(rows.filter((row) => row.kind === "turn").map((row) => row.content.ok), turns, name);
    const failures = lines.filter((line) => / item\.completed [^"]*".*" Failed /.test(line)).length;
    assert.equal(rows.filter((row) => row.kind === "action" && row.content.status === "failed").length, failures, name);
    compared += expected;
  }
  assert.ok(compared > 100, "the snapshots were not read");
});

test("it does not matter where a log is cut, or what comes twice", () => {
  for (const { name, events } of logs) {
    const stored = events.filter(isStored);
    const whole = plain(viewOf(stored));
    const cut = Math.floor(stored.length / 2);
    const view = viewOf(stored.slice(0, cut));
    for (const event of [...stored.slice(0, cut), ...stored.slice(Math.max(0, cut - 3))]) apply(view, event);
    assert.deepEqual(plain(view), whole, name);
  }
});

test("deltas change nothing that stays", () => {
  for (const { name, events } of logs) {
    assert.deepEqual(contents(viewOf(events)), contents(viewOf(events.filter(isStored))), name);
  }
});

test("failures are never folded", () => {
  let failures = 0;
  for (const { name, events } of logs) {
    const view = viewOf(events);
    const shown = new Set(entriesOf(view, (_, standard) => standard && false).map((entry) => entry.key));
    for (const row of allRows(view)) {
      if (row.kind !== "action" || !["failed", "denied"].includes(row.content.status)) continue;
      failures += 1;
      assert.ok(shown.has(row.key), `${name}: ${row.key} failed and is not shown`);
    }
  }
  assert.ok(failures > 20);
});

test("a sub-agent's work is inside the call that started it", () => {
  const events = log(
    ["item.started", action("agent", "running", { kind: "subagent" })],
    ["item.started", action("inner", "running"), { parent: "agent" }],
    ["item.completed", action("inner", "failed"), { parent: "agent" }],
    ["item.completed", action("agent", "ok", { kind: "subagent" })],
  );
  const view = viewOf(events);
  assert.deepEqual(view.rows.map((row) => row.key), ["agent"]);
  assert.deepEqual(view.rows[0].children.map((row) => row.key), ["inner"]);
  const folded = entriesOf(view, () => false).map((entry) => [entry.key, entry.depth]);
  assert.deepEqual(folded, [["agent", 0], ["inner", 1]], "the failure stays in sight");
});

test("finished calls fold into one line that says what they were", () => {
  const parts = ["a", "b", "c"].flatMap((id) => [
    ["item.started", action(id, "running")],
    ["item.completed", action(id)],
  ]);
  const view = viewOf(log(...parts, ["item.started", action("d", "running")]));
  const entries = entriesOf(view, () => false);
  assert.deepEqual(entries.map((entry) => [entry.key, entry.group.length]), [["group:a", 3], ["d", 0]]);
  const open = entriesOf(view, (key) => key === "group:a");
  assert.deepEqual(open.map((entry) => entry.key), ["group:a", "a", "b", "c", "d"]);
});

test("an edited call is shown by itself, with both versions", () => {
  const request = { id: "q", tool_use_id: "a", tool: "Bash", input: { command: "rm -r x" }, digest: "d" };
  const view = viewOf(log(
    ["item.started", action("a", "running")],
    ["permission.requested", request],
    ["permission.resolved", { id: "q", resolution: "allowed", by: "ana", edited: { command: "rm -ri x" } }],
    ["item.completed", action("a")],
    ["item.completed", action("b")],
  ));
  assert.deepEqual(entriesOf(view, () => false).map((entry) => entry.key), ["a", "b"]);
  const told = view.requests.get("q");
  assert.deepEqual([told.input.command, told.resolved.edited.command, told.resolved.by], ["rm -r x", "rm -ri x", "ana"]);
});

test("a prompt waits in the queue until the engine has it, or is taken back", () => {
  const prompt = (state) => ({ id: "p", content: { type: "prompt", text: "hello", delivery: "queue", state } });
  const waiting = viewOf(log(["item.started", prompt("queued")]));
  assert.deepEqual([waiting.queue.size, waiting.rows.length], [1, 0]);
  const sent = viewOf(log(["item.started", prompt("queued")], ["item.completed", prompt("sent")]));
  assert.deepEqual([sent.queue.size, sent.rows[0].content.state, sent.rows[0].seqs], [0, "sent", [1, 2]]);
  const back = viewOf(log(["item.started", prompt("queued")], ["item.completed", prompt("cancelled")]));
  assert.deepEqual([back.queue.size, back.rows[0].content.state], [0, "cancelled"]);
});

test("what was open when the server died is closed", () => {
  const view = viewOf(log(
    ["turn.started", {}],
    ["item.started", { id: "m", content: { type: "message", text: "" } }],
    ["task.started", { id: "t", in_background: true }],
    ["run.completed", { outcome: "failed", failure: { class: "server_died", text: "" }, cost_usd: 1 }],
  ));
  assert.equal(view.busy, false);
  assert.equal(view.items.get("m").cut, true);
  assert.equal(view.tasks.get("t").end, "aborted");
});

test("pieces of a text are put together by where they belong", () => {
  const view = viewOf(log(["item.started", { id: "m", content: { type: "message", text: "" } }]));
  const piece = (offset, text) => applyDelta(view, { seq: 1, type: "item.delta", data: { id: "m", offset, text } });
  const stream = () => ({ ...view.items.get("m").stream });
  assert.ok(piece(0, "aé𝄞"));
  assert.ok(!piece(0, "aé𝄞"), "the same again is nothing new");
  assert.ok(piece(2, "𝄞b"), "an overlap adds only the rest");
  assert.deepEqual(stream(), { from: 0, length: 4, text: "aé𝄞b" });
  assert.ok(piece(10, "later"), "after a hole only what is known is shown");
  assert.deepEqual(stream(), { from: 10, length: 5, text: "later" });
});

test("money and tokens of several runs are added", () => {
  const turn = (cost) => ["turn.completed", { ok: true, tokens: { input: 10, output: 5, cache_read: 100, cache_write: 0 }, total_cost_usd: cost, model_turns: 1, models: { m: { contextWindow: 1000 } } }];
  const run = ["run.started", { engine: "script", cwd: "/" }];
  const end = ["run.completed", { outcome: "ok", cost_usd: 3 }];
  const view = viewOf(log(run, turn(1), turn(3), end, run, turn(0.5)));
  assert.equal(view.meter.earlierCost + view.meter.runCost, 3.5);
  assert.deepEqual(view.rows.filter((row) => row.kind === "turn").map((row) => row.content.cost), [1, 2, 0.5]);
  assert.deepEqual([view.meter.context, view.meter.window, view.meter.tokens.input], [115, 1000, 30]);
});

test("an event of a newer server is kept and shown", () => {
  const view = viewOf(log(["hologram.projected", { size: 3 }], ["__proto__", {}], ["constructor", {}]));
  assert.deepEqual(view.rows.map((row) => row.kind), ["unknown", "unknown", "unknown"]);
});

function plain(view) {
  return { ...view, rows: contents(view), items: null, asked: null, requests: [...view.requests], tasks: [...view.tasks], queue: [...view.queue.keys()] };
}

function contents(view) {
  const one = (row) => [row.key, row.kind, row.seqs, row.content, row.open, row.cut ?? false, row.children.map(one)];
  return view.rows.map(one);
}
