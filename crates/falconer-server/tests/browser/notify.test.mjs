// Notifications: when something needs the user, and only when he does not see it already.

import assert from "node:assert/strict";
import test from "node:test";

import { Stage, go, until } from "./stage.mjs";

const stage = await Stage.open();
const page = await stage.visit();

/** Writes down what the page would have shown. */
async function listen(tab) {
  await tab.evaluate(() => {
    globalThis.shown = [];
    globalThis.Notification = class extends EventTarget {
      static permission = "granted";
      constructor(title, options) {
        super();
        globalThis.shown.push([title, options]);
        globalThis.lastShown = this;
      }
      close() {}
    };
    localStorage.setItem("falconer.notify", "yes");
  });
}

const shown = (tab) => tab.evaluate(() => globalThis.shown);
await listen(page);

test("who looks elsewhere is told, with nothing to press but review", async () => {
  const session = await stage.create("run a command", { title: "Far away" });
  await until("it is shown", async () => (await shown(page)).length > 0);
  const [[title, options]] = await shown(page);
  assert.equal(title, "Review: Run a command");
  assert.equal(options.body, "Far away");
  assert.equal(options.actions, undefined);
  await page.evaluate(() => globalThis.lastShown.dispatchEvent(new Event("click")));
  await page.locator(".card.permission").waitFor();
  assert.match(page.url(), new RegExp(session));
  assert.equal((await stage.pending(session)).length, 1, "a click shows, it does not answer");
});

test("who sees it is not told, in this tab or in another one", async () => {
  const session = await stage.create(undefined, { title: "Near" });
  const other = await page.context().newPage();
  await other.goto(`${stage.url}/#s/${session}`);
  await other.locator(".pill[data-state=live]").waitFor();
  await listen(other);
  const before = (await shown(page)).length;
  await stage.send(session, "run a command");
  await other.locator(".card.permission").waitFor();
  await until("the first tab knows", async () => /^\(2\)/.test(await page.title()));
  // Longer than a tab waits for the others to speak up.
  await page.waitForTimeout(500);
  assert.equal((await shown(page)).length, before);
  assert.deepEqual(await shown(other), []);
  await go(other, "#");
});
