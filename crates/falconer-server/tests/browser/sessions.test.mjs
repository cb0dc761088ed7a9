// Sessions: started, followed, talked to, found again.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";

import { Stage, go, until } from "./stage.mjs";

const stage = await Stage.open();
const page = await stage.visit();

test("without a session the page says how to come in; a link works once", async () => {
  const context = await stage.browser.newContext();
  const page = await context.newPage();
  await page.goto(stage.url);
  await page.getByText("You are not signed in").waitFor();
  const link = stage.links.pop();
  await page.goto(link);
  await page.waitForSelector(".rail");
  assert.equal(await page.evaluate(() => location.href.includes("code")), false, "the code is gone from the address");
  const other = await (await stage.browser.newContext()).newPage();
  await other.goto(link);
  await other.getByText("This link did not work").waitFor();
});

test("the first visit explains itself, and a session is started", async () => {
  await page.getByText("Agents at work, and you decide").waitFor();
  await page.getByRole("link", { name: "Start the first session" }).click();
  await page.getByRole("button", { name: "Browse" }).click();
  await page.locator(".folders").getByRole("button", { name: "project" }).click();
  await until("the folder is chosen", async () => (await page.locator("#folder").inputValue()) === stage.project);
  await page.locator("select[name=engine]").selectOption("script");
  await page.getByLabel("First message").fill("hello there");
  await page.getByRole("button", { name: "Start session" }).click();
  await page.locator(".row[data-kind=message]").getByText("Said and done.").waitFor();
  assert.equal(await page.locator(".message strong").textContent(), "done", "Markdown is rendered");
  assert.match(await page.locator(".prompt").textContent(), /hello there/);
  await go(page, "#new");
  await until("the choice is remembered", async () => (await page.locator("select[name=engine]").inputValue()) === "script");
  assert.equal(await page.locator("#folder").inputValue(), stage.project);
});

test("text is on the screen while it is written", async () => {
  const session = await stage.create("write slowly");
  await go(page, `#s/${session}`);
  const writing = page.locator(".row.writing .plain");
  await writing.waitFor();
  const first = (await writing.textContent()).length;
  await until("it grows", async () => ((await writing.textContent().catch(() => "")) ?? "").length > first + 20 || !(await writing.isVisible()));
  await stage.done(session);
  await page.locator(".message li").getByText("with a list").waitFor();
});

test("messages wait in the queue, can be taken back, and steer", async () => {
  const session = await stage.create("run a command");
  await go(page, `#s/${session}`);
  await page.waitForSelector(".card");
  const text = page.getByLabel("Message to the agent");
  await text.fill("second message");
  await text.press("Enter");
  const queued = page.locator(".queue li");
  await queued.getByText("second message").waitFor();
  await queued.getByRole("button", { name: "Edit" }).click();
  await until("it is back in the composer", async () => (await text.inputValue()) === "second message");
  await text.fill("third message");
  await text.press("Enter");
  await queued.getByText("third message").waitFor();
  await queued.getByRole("button", { name: "Cancel" }).click();
  await queued.waitFor({ state: "detached" });
  await page.locator(".row.cancelled").getByText("third message").waitFor();
  assert.deepEqual(await page.locator(".verbs button").allTextContents(), ["Queue", "Steer", "Interrupt"]);
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await stage.done(session);
});

test("a message steers the agent while it works, or interrupts it", async () => {
  const session = await stage.create("write slowly");
  await go(page, `#s/${session}`);
  await page.locator(".row.writing").waitFor();
  const text = page.getByLabel("Message to the agent");
  await text.fill("think of the children");
  await text.press("Alt+Enter");
  await page.locator(".prompt").getByText("think of the children").waitFor();
  const steered = (await stage.events(session)).filter((event) => event.data?.content?.text === "think of the children");
  assert.deepEqual([...new Set(steered.map((event) => event.data.content.delivery))], ["steer"]);

  const second = await stage.create("write slowly");
  await go(page, `#s/${second}`);
  await page.locator(".row.writing").waitFor();
  await page.getByRole("button", { name: "Interrupt", exact: true }).click();
  await text.fill("something else");
  await page.getByRole("button", { name: "Interrupt and send" }).click();
  await page.locator(".prompt").getByText("something else").waitFor();
  await page.getByText("Said and done.").waitFor();
  const told = JSON.stringify(await stage.events(second));
  assert.ok(!told.includes("This is the end of a long text"), "the first answer was cut");
});

test("tools fold, failures do not, and every row has its JSON", async () => {
  const session = await stage.create("many tools");
  await stage.done(session);
  await go(page, `#s/${session}`);
  const group = page.locator(".row.group");
  await group.waitFor();
  assert.match(await group.textContent(), /3 tools/);
  await page.locator(".row.action.failed").waitFor();
  assert.equal(await page.locator(".row.action").count(), 1, "only the failure is a line of its own");
  await group.locator("button.fold").click();
  await until("they are shown", async () => (await page.locator(".row.action").count()) === 4);
  await page.locator(".row.action.failed").hover();
  await page.locator(".row.action.failed").getByRole("button", { name: /Raw JSON/ }).click();
  const raw = page.locator("dialog .raw");
  await until("it is loaded", async () => (await raw.textContent()).includes('"seq"'));
  const shown = (await raw.textContent()).split("\n\n").map((text) => JSON.parse(text));
  const stored = await stage.events(session);
  for (const event of shown) assert.deepEqual(event, stored[event.seq - 1]);
  await page.keyboard.press("Escape");
});

test("a link leads to an event, and the search finds it", async () => {
  const session = await stage.create("hello");
  await stage.done(session);
  const stored = await stage.events(session);
  const message = stored.find((event) => event.type === "item.completed" && event.data.content.type === "message");
  await go(page, `#s/${session}/${message.seq}`);
  await page.locator(`.row.marked[data-key="${message.data.id}"]`).waitFor();
  await page.getByRole("button", { name: "Search in this session (/)" }).click();
  await page.getByLabel("Search in this session", { exact: true }).fill("said done");
  await page.locator(".search").getByText("1 of 1").waitFor();
  await page.getByRole("button", { name: "Close the search" }).click();
});

test("commands of the engine are completed", async () => {
  const session = await stage.create("hello");
  await stage.done(session);
  await go(page, `#s/${session}`);
  const { commands } = await stage.api("GET", `/v1/sessions/${session}/commands`);
  const text = page.getByLabel("Message to the agent");
  await text.fill("");
  await text.pressSequentially("/");
  if (commands.length > 0) {
    await page.locator(".completion li").first().waitFor();
    await text.press("Tab");
    assert.match(await text.inputValue(), /^\/\S+ $/);
  }
  await text.fill("");
});

test("a picture is attached by pasting, and shown", async () => {
  const session = await stage.create("hello");
  await stage.done(session);
  await go(page, `#s/${session}`);
  const text = page.getByLabel("Message to the agent");
  await text.focus();
  await page.evaluate(() => {
    const bytes = Uint8Array.from(atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="), (letter) => letter.charCodeAt(0));
    const data = new DataTransfer();
    data.items.add(new File([bytes], "dot.png", { type: "image/png" }));
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await page.locator(".attached").getByText(/dot\.png · \d+ B/).waitFor();
  await text.fill("look at this");
  await text.press("Enter");
  await page.locator(".prompt").getByText("look at this").waitFor();
  const picture = page.locator(".prompt img[alt='dot.png']");
  await picture.waitFor();
  await until("it is loaded", () => picture.evaluate((image) => image.complete && image.naturalWidth === 1));
});

test("model, mode, name, pin and archive are changed", async () => {
  const session = await stage.create("hello", { title: "Old name" });
  await stage.done(session);
  await go(page, `#s/${session}`);
  await page.getByLabel("Permission mode").selectOption("acceptEdits");
  await until("the mode is changed", async () => (await stage.api("GET", `/v1/sessions/${session}`)).mode === "acceptEdits");
  await page.getByRole("button", { name: "More" }).click();
  await page.getByLabel("Name of the session").fill("New name");
  await page.getByRole("button", { name: "Rename" }).click();
  await page.locator(".session-title").getByText("New name").waitFor();
  for (const [name, field] of [["Pin", "pinned"], ["Archive", "archived"]]) {
    await page.getByRole("button", { name: "More" }).click();
    await page.locator("dialog").getByRole("button", { name, exact: true }).click();
    await until(field, async () => (await stage.api("GET", `/v1/sessions/${session}`))[field] === true);
  }
});

test("nothing went wrong in the page", () => {
  assert.deepEqual(page.complaints, []);
  assert.ok(fs.existsSync(path.join(stage.root, "store.db")));
});
