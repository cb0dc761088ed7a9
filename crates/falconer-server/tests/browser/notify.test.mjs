// Notifications: when something needs the user, and only when he does not see it already.

import assert from "node:assert/strict";
import test from "node:test";

import { Stage, go, until } from "./stage.mjs";

const stage = await Stage.open();
const page = await stage.visit();

await page.context().grantPermissions(["notifications"]);

/** Writes down what the browser is asked to show; it shows it all the same. */
async function listen(tab) {
  await tab.evaluate(() => {
    globalThis.shown = [];
    globalThis.Notification = class extends Notification {
      constructor(title, options) {
        super(title, options);
        globalThis.shown.push([title, options]);
        globalThis.lastShown = this;
      }
    };
  });
}

const shown = (tab) => tab.evaluate(() => globalThis.shown);
await listen(page);

test("nobody is told before he asks for it", async () => {
  const session = await stage.create("run a command", { title: "Unheard" });
  await until("the page knows", async () => /^\(1\)/.test(await page.title()));
  assert.deepEqual(await shown(page), []);
  await stage.api("POST", `/v1/sessions/${session}/close`, {});
  await until("it is over", async () => !/^\(/.test(await page.title()));
  await page.getByRole("button", { name: "Notify me" }).click();
  await page.getByRole("button", { name: "Notifications on", pressed: true }).waitFor();
});

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
