// Turns that fail or break off: seen in the list, and the ways on.

import assert from "node:assert/strict";
import test from "node:test";

import { Stage, go, until } from "./stage.mjs";

const stage = await Stage.open();
const page = await stage.visit("#rules");

const listed = (/** @type {string} */ id) => page.locator(`.session[href="#s/${id}"]`);
const need = (/** @type {string} */ id, /** @type {string} */ wanted) => until(`it is ${wanted}`, async () => (await listed(id).getAttribute("data-need")) === wanted);
const line = page.locator(".trouble");

test("a failed turn is above finished ones, says why, and is tried again", async () => {
  const finished = await stage.create("hello", { title: "Has finished" });
  await stage.done(finished);
  const failed = await stage.create("be refused", { title: "Has failed" });
  await stage.done(failed);
  const later = await stage.create("hello", { title: "Finished later" });
  await stage.done(later);
  await need(failed, "failed");
  for (const id of [finished, later]) await need(id, "finished");
  assert.equal(await page.locator(".session").first().getAttribute("href"), `#s/${failed}`);
  await listed(failed).getByText(/Invalid API key/).waitFor();
  await listed(failed).click();
  await line.getByText(/The last turn failed: Invalid API key/).waitFor();
  await need(failed, "idle");
  await line.getByRole("button", { name: "Retry" }).click();
  await stage.done(failed, 2);
  await page.locator(".row[data-kind=message]").getByText("Said and done.").first().waitFor();
  await line.waitFor({ state: "hidden" });
  const prompts = await page.locator(".row[data-kind=prompt]").allTextContents();
  assert.equal(prompts.filter((text) => text.includes("be refused")).length, 2);
});

test("a killed server interrupts who worked, and leaves those at rest as they were", async () => {
  const rested = await stage.create("hello", { title: "At rest" });
  await stage.done(rested);
  await go(page, `#s/${rested}`);
  await page.getByText("Said and done.").first().waitFor();
  const broken = await stage.create("run a command", { title: "At work" });
  await stage.pending(broken);
  await go(page, "#rules");
  await need(rested, "idle");
  await stage.kill();
  await stage.start();
  await need(broken, "interrupted");
  await need(rested, "idle");
  await go(page, `#s/${rested}`);
  await page.getByText("The agent's process ended").first().waitFor();
  assert.equal(await page.getByText(/The run failed/).count(), 0);
  await listed(broken).click();
  await line.getByText(/The last turn was interrupted/).waitFor();
  await line.getByRole("button", { name: "Resume" }).click();
  await stage.state(broken, "ready", "running");
});

test("whoever opens or reloads in the middle of an answer sees its beginning", async () => {
  for (const again of [() => go(page, "#rules"), () => page.reload()]) {
    const session = await stage.create("write slowly");
    await go(page, `#s/${session}`);
    await page.locator(".row.writing").getByText(/jumps over/).waitFor();
    await again();
    await go(page, `#s/${session}`);
    const writing = page.locator(".row.writing .message, .row.writing").first();
    const text = await until("some text is there", async () => (await writing.textContent({ timeout: 1000 }).catch(() => "")) || null);
    assert.match(text.trim(), /^The quick brown fox/);
    await stage.done(session);
  }
});

test("nothing went wrong in the page", () => {
  assert.deepEqual(page.complaints.filter((text) => !/fetch|abort|network/i.test(text)), []);
});
