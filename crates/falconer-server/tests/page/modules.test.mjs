// The files of the page: all of them are used, and nothing in them is risky.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";

const page = path.join(import.meta.dirname, "../../page");

/** Every module the page loads, by following its imports. */
function modules(file = "app.js", found = new Set()) {
  if (found.has(file)) return found;
  found.add(file);
  const text = fs.readFileSync(path.join(page, file), "utf8");
  for (const [, name] of text.matchAll(/^(?:import|export) .*from "(\.[^"]+)";$/gm)) {
    modules(path.posix.join(path.posix.dirname(file), name), found);
  }
  return found;
}

test("there is no file that nobody loads", () => {
  const loaded = new Set([...modules(), "types.js"]);
  const there = fs.readdirSync(page, { recursive: true }).filter((file) => file.endsWith(".js"));
  assert.deepEqual(there.filter((file) => !loaded.has(file)), []);
});

test("nothing is inline, and nothing becomes HTML but what was sanitised", () => {
  const html = fs.readFileSync(path.join(page, "index.html"), "utf8");
  assert.doesNotMatch(html, /<style|style=|<script(?![^>]*src=)|\son\w+=/);
  for (const file of modules()) {
    const text = fs.readFileSync(path.join(page, file), "utf8");
    assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|setAttribute\("style/, file);
    if (file !== "view/sanitised.js") assert.doesNotMatch(text, /DOMParser/, file);
  }
});
