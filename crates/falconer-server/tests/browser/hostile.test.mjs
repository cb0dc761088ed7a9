// What an agent writes is shown, never run, and never hides.

import assert from "node:assert/strict";
import test from "node:test";

import { Stage, go } from "./stage.mjs";

const stage = await Stage.open();
const page = await stage.visit();
const asked = [];
page.on("request", (request) => asked.push(request.url()));

test("scripts, HTML and terminal escapes are text", async () => {
  const session = await stage.create("be hostile <script>window.hacked=1</script>", { title: "<img src=x onerror=window.hacked=1>" });
  await go(page, `#s/${session}`);
  await page.waitForSelector(".card");
  await page.locator(".message p").first().waitFor();
  const text = await page.locator(".message").first().textContent();
  for (const part of ["<script>window.hacked=1</script>", "<img src=x", "⟨ESC⟩[31mred⟨ESC⟩[0m", "⟨U+202E⟩evil"]) {
    assert.ok(text.includes(part), `${part} is not in ${text}`);
  }
  const command = await page.locator(".card .command").textContent();
  assert.ok(command.includes("⟨ESC⟩[8mhidden⟨ESC⟩[0m ⟨U+202E⟩# nothing"), command);
  await page.locator(".row.thought .fold, .row.group .fold").first().click();
  await go(page, "#approvals");
  await page.waitForSelector(".card .command");
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.evaluate(() => document.querySelectorAll("main script, main iframe, main style, .message img").length), 0);
});

test("links lead nowhere dangerous, and nothing is loaded from elsewhere", async () => {
  const { sessions } = await stage.api("GET", "/v1/sessions");
  await go(page, `#s/${sessions[0].id}`);
  await page.locator(".message p").first().waitFor();
  const links = await page.locator(".message a[href]").evaluateAll((all) => all.map((link) => [link.protocol, link.rel]));
  for (const [protocol, rel] of links) {
    assert.match(protocol, /^https?:$/);
    assert.match(rel, /noopener/);
  }
  const foreign = asked.filter((url) => !url.startsWith(stage.url) && !url.startsWith("data:"));
  assert.deepEqual(foreign, []);
});

test("the page runs under its policy without a complaint", async () => {
  const response = await page.request.get(stage.url);
  const policy = response.headers()["content-security-policy"];
  assert.match(policy, /script-src 'self'/);
  assert.doesNotMatch(policy, /unsafe/);
  assert.deepEqual(page.complaints, []);
});
