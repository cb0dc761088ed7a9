// Events for the tests: recorded ones, and ones made by hand.

import fs from "node:fs";
import path from "node:path";

/** The recorded sessions as events, by name; written by the test in Rust that runs this. */
export function recordedLogs() {
  const folder = process.env.FALCONER_EVENT_LOGS;
  if (!folder) throw new Error("FALCONER_EVENT_LOGS is not set; the tests in Rust set it");
  return fs.readdirSync(folder).map((file) => {
    const text = fs.readFileSync(path.join(folder, file), "utf8");
    const events = text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
    return { name: path.basename(file, ".jsonl"), events };
  });
}

/** The lines of the snapshot the Rust side has of a recorded session. */
export function snapshotOf(name) {
  const file = path.join(process.env.FALCONER_EVENT_SNAPSHOTS ?? "", `${name}.snap`);
  return fs.readFileSync(file, "utf8").split("\n---\n")[1]?.split("\n") ?? [];
}

export const isStored = (event) => event.type !== "item.delta";

/** A log by hand: `type`, `data` and whatever else each event has. */
export function log(...parts) {
  return parts.map(([type, data, more], index) => ({
    seq: index + 1,
    time: new Date(Date.UTC(2026, 10, 15, 12, 0, index)).toISOString(),
    session: "s",
    run: "r",
    turn: 1,
    source: "agent",
    type,
    data,
    ...more,
  }));
}

export const action = (id, status = "ok", more = {}) => ({
  id,
  content: { type: "action", kind: "command", title: id, tool: "Bash", input: { command: id }, status, ...more },
});
