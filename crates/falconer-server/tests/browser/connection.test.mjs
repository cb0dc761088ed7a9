// The connection is told as it is: live, catching up, reconnecting, stale, offline; and what was
// missed meanwhile.

import assert from "node:assert/strict";
import test from "node:test";

import { CONVERSATION, Stage, go, until } from "./stage.mjs";

const stage = await Stage.open();
const page = await stage.visit();
await page.clock.install();
const pill = page.locator(".pill");
const live = page.locator(".pill[data-state=live]");

async function opened(message) {
  const session = await stage.create(message);
  await stage.done(session);
  await go(page, `#s/${session}`);
  await live.waitFor();
  return session;
}

/** As if the tab was left, or come back to. */
function hide(isHidden) {
  return page.evaluate((value) => {
    Object.defineProperty(document, "hidden", { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);
}

test("a server that is silent makes the page stale, and live again when it speaks", async () => {
  await opened("hello");
  stage.freeze();
  try {
    await page.clock.fastForward(45_000);
    await page.locator(".pill[data-state=stale]").waitFor();
    assert.match(await pill.textContent(), /Stale: silent for \d+ s/);
  } finally {
    stage.thaw();
  }
  await page.clock.fastForward(40_000);
  await live.waitFor();
});

test("what was missed while disconnected is counted, and leads there", async () => {
  const session = await opened("hello");
  const before = (await stage.events(session)).length;
  await hide(true);
  // A tab nobody sees hangs up after a while.
  await page.clock.fastForward(25_000);
  await stage.send(session, "run a command");
  await stage.pending(session);
  assert.equal(await page.getByText("I run it.").count(), 0, "the page does not listen");
  await hide(false);
  const missed = page.locator(".missed");
  await missed.waitFor();
  const count = (await stage.events(session)).length - before;
  assert.equal(await missed.locator("span").textContent(), `You missed ${count} events while disconnected; 1 request needs your answer`);
  await missed.getByRole("button", { name: "Show" }).click();
  await missed.waitFor({ state: "hidden" });
  await page.locator(".row.marked").waitFor();
  assert.ok(Number(await page.locator(".row.marked").getAttribute("data-seq")) >= before, "the first row that was missed is shown");
});

test("a short cut is not told", async () => {
  const session = await opened("hello");
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await stage.send(session, "hello again");
  await stage.done(session, 2);
  await until("both answers are there", async () => (await page.locator(".message").count()) === 2);
  assert.equal(await page.locator(".missed").isVisible(), false);
});

test("on a slow line the page says how far behind it is", async () => {
  const tool = (id) => ({ emit: { type: "assistant", session_id: CONVERSATION, parent_tool_use_id: null, uuid: crypto.randomUUID(), message: { id, type: "message", role: "assistant", model: "claude-scripted", content: [{ type: "text", text: `${id} ${"long ".repeat(200)}` }], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } } } });
  stage.fake(...Array.from({ length: 150 }, (_, at) => tool(`msg_${at}`)), { turn: { text: "Told." } });
  const session = await stage.create("go", { engine: "fake" });
  await stage.done(session);
  const protocol = await page.context().newCDPSession(page);
  await protocol.send("Network.enable");
  await protocol.send("Network.emulateNetworkConditions", { offline: false, latency: 5, downloadThroughput: 40_000, uploadThroughput: 40_000 });
  await go(page, `#s/${session}`);
  await page.locator(".pill[data-state=catching]").waitFor();
  assert.match(await pill.textContent(), /Catching up \(\d+\)/);
  await protocol.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await live.waitFor();
});

test("without a connection the list of approvals says so, and takes no answer", async () => {
  const session = await stage.create("run a command");
  await stage.pending(session);
  await go(page, "#approvals");
  await page.locator(".card[data-armed]").waitFor();
  await page.context().setOffline(true);
  const line = page.locator(".overview");
  await page.locator(".overview[data-state=offline]").waitFor();
  assert.equal(await line.textContent(), "Offline");
  await page.clock.fastForward(2_000);
  await page.waitForSelector(".card[data-armed=no]");
  await go(page, `#s/${session}`);
  await page.getByText("Not loaded: there is no connection to the server.").waitFor();
  await page.context().setOffline(false);
  await page.clock.fastForward(15_000);
  await live.waitFor();
  await line.waitFor({ state: "hidden" });
  await page.getByText("Not loaded").waitFor({ state: "hidden" });
  await stage.api("POST", `/v1/sessions/${session}/close`, {});
});

test("a server that is gone is waited for", async () => {
  await opened("hello");
  await stage.kill();
  await page.locator(".pill[data-state=reconnecting]").waitFor();
  assert.match(await pill.textContent(), /Reconnecting in \d+ s|Connecting…/);
  await stage.start();
  await page.clock.fastForward(15_000);
  await live.waitFor();
  assert.deepEqual(page.complaints, []);
});
