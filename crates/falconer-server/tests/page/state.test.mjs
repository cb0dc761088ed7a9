// Small decisions of the page: order, text, diffs, frames, addresses.

import assert from "node:assert/strict";
import test from "node:test";

import { frameReader } from "../../page/net/sse.js";
import { diffLines, diffOfCall } from "../../page/state/diff.js";
import { inbox } from "../../page/state/inbox.js";
import { lastMessage, lastSentence } from "../../page/state/last_words.js";
import { groupsOfSame } from "../../page/state/requests.js";
import { codeIn, parseRoute, sessionHash } from "../../page/state/route.js";
import { duration, exact, exactLine, visible } from "../../page/state/text.js";
import { wordsFor } from "../../page/view/connection.js";

const session = (id, state, more = {}) => ({ id, state, head: 5, cwd: `/${id}`, updated_at: "2026-11-15T12:00:00Z", ...more });
const request = (id, of, kind = "permission", more = {}) => ({ id, session: of, kind, state: "pending", digest: id, ...more });

test("whoever needs somebody comes first", () => {
  const sessions = [
    session("closed", "closed"),
    session("idle", "idle"),
    session("pinned", "idle", { pinned: true }),
    session("working", "running"),
    session("finished", "ready", { last_turn: { seq: 5, outcome: "done" } }),
    session("stopped", "ready", { last_turn: { seq: 5, outcome: "stopped" } }),
    session("broke off", "interrupted", { last_turn: { seq: 5, outcome: "interrupted" } }),
    session("failed", "idle", { last_turn: { seq: 5, outcome: "failed" } }),
    session("failed and read", "idle", { last_turn: { seq: 3, outcome: "failed" } }),
    session("asks", "waiting"),
    session("wants", "waiting"),
    session("newer", "idle", { updated_at: "2026-11-16T12:00:00Z" }),
  ];
  const requests = [request("1", "asks", "choice"), request("2", "wants"), request("3", "idle", "permission", { state: "answered" })];
  const listed = inbox(sessions, requests, () => 3);
  const ranks = ["wants", "asks", "failed", "broke off", "finished", "working", "pinned", "newer", "idle", "stopped", "failed and read", "closed"];
  assert.deepEqual(listed.map((one) => one.session.id), ranks);
});

test("the same thing is asked once; questions never are the same", () => {
  const groups = groupsOfSame([
    request("1", "a", "permission", { digest: "x" }),
    request("2", "a", "permission", { digest: "x" }),
    request("3", "b", "permission", { digest: "x" }),
    request("4", "a", "choice", { digest: "x" }),
    request("5", "a", "choice", { digest: "x" }),
  ]);
  assert.deepEqual(groups.map((group) => group.map((one) => one.id)), [["1", "2"], ["3"], ["4"], ["5"]]);
});

test("what hides or moves text is made visible", () => {
  for (const [given, expected] of [
    ["plain\ttext\nline", "plain\ttext\nline"],
    ["\u001b[31mred\u001b[0m", "⟨ESC⟩[31mred⟨ESC⟩[0m"],
    ["a\rb", "a⟨CR⟩b"],
    ["a\r\nb", "a\nb"],
    ["rm \u202e/gpj", "rm ⟨U+202E⟩/gpj"],
    ["a\u200bb", "a⟨U+200B⟩b"],
    ["bell\u0007\u007f\u0000", "bell⟨BEL⟩⟨DEL⟩⟨NUL⟩"],
    ["\u009b31m", "⟨U+009B⟩31m"],
    ["tag\u{e0041}", "tag⟨U+E0041⟩"],
    ["é 漢字 🦅", "é 漢字 🦅"],
  ]) {
    assert.equal(visible(given), expected, JSON.stringify(given));
  }
});

test("a diff has every line of both sides, and says what stays", () => {
  const show = (before, after) => diffLines(before, after).map((line) => line.sign + line.text);
  assert.deepEqual(show("a\nb\nc\n", "a\nx\nc\n"), [" a", "-b", "+x", " c"]);
  assert.deepEqual(show("", "a\nb"), ["+a", "+b"]);
  assert.deepEqual(show("a\nb", ""), ["-a", "-b"]);
  assert.deepEqual(show("a\nb\nc\nd", "b\nd\ne"), ["-a", " b", "-c", " d", "+e"]);
  for (let round = 0; round < 200; round += 1) {
    const text = () => Array.from({ length: round % 9 }, (_, at) => "abc"[(round * 7 + at * at) % 3]).join("\n");
    const [before, after] = [text(), text() + (round % 2 ? "\nd" : "")];
    const lines = diffLines(before, after);
    const side = (sign) => lines.filter((line) => line.sign !== sign).map((line) => line.text).join("\n");
    assert.equal(side("+"), before.replace(/\n$/, ""));
    assert.equal(side("-"), after.replace(/\n$/, ""));
  }
});

test("a huge change is shown without comparing everything with everything", () => {
  const many = Array.from({ length: 5000 }, (_, at) => `line ${at}`);
  const other = many.map((line) => `${line}!`);
  assert.equal(diffLines(many.join("\n"), other.join("\n")).length, 10_000);
});

test("file tools are shown as changes, others are not", () => {
  assert.equal(diffOfCall("Bash", { command: "x" }), null);
  assert.deepEqual(diffOfCall("Edit", { file_path: "f", old_string: "a", new_string: "b" }), { path: "f", lines: [{ sign: "-", text: "a" }, { sign: "+", text: "b" }] });
  assert.equal(diffOfCall("MultiEdit", { file_path: "f", edits: [{ old_string: "a", new_string: "b" }, null] })?.lines.length, 4);
  assert.deepEqual(diffOfCall("Write", null), { path: "", lines: [] });
});

test("frames are whole, however the network cuts them", () => {
  const text = 'id: 7\nevent: event\ndata: {"a":1}\n\n: comment\n\nevent: ping\r\ndata: 1\r\ndata: 2\r\n\r\n';
  const whole = frameReader()(text);
  assert.deepEqual(whole, [{ event: "event", id: "7", data: '{"a":1}' }, { event: "ping", id: null, data: "1\n2" }]);
  for (let cut = 0; cut <= text.length; cut += 1) {
    const read = frameReader();
    assert.deepEqual([...read(text.slice(0, cut)), ...read(text.slice(cut))], whole, `cut at ${cut}`);
  }
});

test("addresses lead to where they were made", () => {
  assert.deepEqual(parseRoute(sessionHash("a/b c", 12)), { view: "session", session: "a/b c", seq: 12 });
  assert.deepEqual(parseRoute("#s/x/zero"), { view: "session", session: "x", seq: null });
  assert.deepEqual(parseRoute("#s/%E0%A4%A"), { view: "session", session: "%E0%A4%A", seq: null });
  assert.deepEqual(parseRoute("#nowhere"), { view: "home" });
  assert.deepEqual([codeIn("#code=abc"), codeIn("#s/code=abc")], ["abc", null]);
});

test("times are short", () => {
  assert.deepEqual([5, 1500, 41_200, 61_000, 3_700_000].map(duration), ["5 ms", "1.5 s", "41 s", "1 min 1 s", "1 h 1 min"]);
});

test("the connection is told as it is", () => {
  const now = 100_000;
  for (const [connection, words] of [
    [{ state: "live" }, "Live"],
    [{ state: "catching", behind: 1234 }, "Catching up (1.2k)"],
    [{ state: "reconnecting", at: now + 2100 }, "Reconnecting in 3 s"],
    [{ state: "reconnecting", at: now - 1 }, "Connecting…"],
    [{ state: "stale", since: now - 42_000 }, "Stale: silent for 42 s"],
    [{ state: "offline" }, "Offline"],
  ]) {
    assert.equal(wordsFor(connection, now), words);
  }
});

test("of what an agent said the last sentence is left", () => {
  for (const [text, sentence] of [
    ["I run it.", "I run it."],
    ["First this. Then **that**!", "Then that!"],
    ["# Done\n\n1. one\n2. `two` is fine", "two is fine"],
    ["See:\n```sh\nrm -rf /\n```", "See:"],
    ["", ""],
    ["x".repeat(200), `${"x".repeat(159)}…`],
  ]) {
    assert.equal(lastSentence(text), sentence);
  }
  const said = (text, more = {}) => ({ type: "item.completed", data: { content: { type: "message", text } }, ...more });
  assert.equal(lastMessage([said("Mine."), said("Of a sub-agent.", { parent: "call" }), { type: "item.completed", data: { content: { type: "action" } } }]), "Mine.");
});

test("what is to be approved looks like nothing else", () => {
  const table = [
    ["a  \nb \n   ", "a⟨SP×2⟩\nb⟨SP⟩\n⟨SP×3⟩"],
    ["⟨SP⟩", "⟨U+27E8⟩SP⟨U+27E9⟩"],
    ["→\tx →y", "⟨U+2192⟩→\tx →y"],
    ["p\u0430ypal.com привет", "p⟨U+0430⟩ypal.com привет"],
    ["日本語text größe", "日本語text größe"],
    ["a\u0301\u0302\u0303\u0304", "a\u0301\u0302\u0303⟨U+0304⟩"],
    ["\u0338a\ue0b0\u00a0\r\n", "⟨U+0338⟩a⟨U+E0B0⟩⟨U+00A0⟩⟨CR⟩\n"],
  ];
  for (const [text, expected] of table) assert.equal(exact(text), expected);
  assert.equal(exactLine("a\nb"), "a⟨LF⟩b");
});
