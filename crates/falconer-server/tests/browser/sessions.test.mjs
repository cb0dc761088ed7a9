// Sessions: started, followed, talked to, found again.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";

import { CONVERSATION, DOT, Stage, go, until } from "./stage.mjs";

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

test("a browser signs in with a token, or by a link that another one made", async () => {
  const fresh = async () => (await stage.browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] })).newPage();
  const first = await fresh();
  await first.goto(stage.url);
  await first.getByLabel("Token").fill("flc_wrong");
  await first.getByRole("button", { name: "Sign in" }).click();
  await first.locator(".login .bad:not([hidden])").waitFor();
  await first.getByLabel("Token").fill(stage.token);
  await first.getByRole("button", { name: "Sign in" }).click();
  await first.waitForSelector(".rail");
  await first.getByRole("button", { name: "Add a device" }).click();
  const link = await first.getByLabel("The link").inputValue();
  const second = await fresh();
  await second.goto(link);
  await second.waitForSelector(".rail");
});

test("the first visit explains itself, and a session is started", async () => {
  await page.getByText("Agents work, you decide").waitFor();
  await page.getByRole("link", { name: "Start the first session" }).click();
  await page.getByRole("button", { name: "Browse" }).click();
  await page.locator(".folders").getByRole("button", { name: "shop" }).click();
  await until("the folder is chosen", async () => (await page.locator("#folder").inputValue()) === stage.project);
  const engine = page.locator("select[name=engine]");
  await engine.locator("option[value=script]").waitFor({ state: "attached" });
  assert.deepEqual(await engine.locator("option").allTextContents(), ["Automatic", "script", "fake", "absent (not available)"]);
  await page.getByText("Why some engines cannot be used").click();
  await page.getByText("absent: not found in").waitFor();
  const width = await page.locator("form.new").evaluate((form) => form.scrollWidth - form.clientWidth);
  assert.equal(width, 0, "however long the reason is, the form stays where it is");
  await engine.selectOption("script");
  await page.getByLabel("First message").fill("hello there");
  await page.getByRole("button", { name: "Start session" }).click();
  await page.locator(".row[data-kind=message]").getByText("Said and done.").waitFor();
  assert.equal(await page.locator(".message strong").textContent(), "done", "Markdown is rendered");
  assert.match(await page.locator(".prompt").textContent(), /hello there/);
  await go(page, "#new");
  await until("the choice is remembered", async () => (await page.locator("select[name=engine]").inputValue()) === "script");
  assert.equal(await page.locator("#folder").inputValue(), stage.project);
});

test("what the form got wrong is said in the form", async () => {
  await go(page, "#new");
  await page.locator("#folder").fill("/nowhere");
  await page.getByRole("button", { name: "Start session" }).click();
  await page.locator("form.new .failure:not([hidden])").waitFor();
  assert.equal(await page.locator(".toast").count(), 0);
});

test("without an engine the form says what to do", async () => {
  const absent = { name: "native", available: false, reason: "no key in 13 places" };
  await page.route("**/v1/engines", (route) => route.fulfill({ json: { engines: [absent] } }));
  await go(page, "#");
  await go(page, "#new");
  await page.getByText("No engine can run here yet: set ANTHROPIC_API_KEY").waitFor();
  assert.equal(await page.getByText("no key in 13 places").isVisible(), false, "the details are folded");
  await page.unroute("**/v1/engines");
});

test("many sessions do not make the page longer than the window", async () => {
  const sessions = await Promise.all(Array.from({ length: 20 }, () => stage.create("hello")));
  await until("all are listed", async () => (await page.locator(".session").count()) >= sessions.length);
  for (const view of ["#", "#approvals", `#s/${sessions[0]}`]) {
    await go(page, view);
    const heights = await page.evaluate(() => [document.documentElement.scrollHeight, innerHeight]);
    assert.equal(heights[0], heights[1], view);
  }
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
  await page.locator(".row[data-kind=message]").getByText("Said and done.").waitFor();
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
  stage.fake({ turn: { text: "Here I am." } });
  const session = await stage.create("hello", { engine: "fake" });
  await stage.done(session);
  await go(page, `#s/${session}`);
  const text = page.getByLabel("Message to the agent");
  await text.fill("");
  await text.pressSequentially("/co");
  const option = page.getByRole("option", { name: /\/compact/ });
  await option.waitFor();
  assert.match(await option.textContent(), /Shorten/);
  const isInSight = await option.evaluate((one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    return [top + 3, bottom - 3].every((y) => one.contains(document.elementFromPoint((left + right) / 2, y)));
  });
  assert.ok(isInSight, "nothing clips the list");
  await text.press("Escape");
  await option.waitFor({ state: "hidden" });
  assert.equal(await text.inputValue(), "/co", "Esc closes the list and nothing else");
  await text.pressSequentially("m");
  await option.waitFor();
  await text.press("Tab");
  assert.equal(await text.inputValue(), "/compact ");
  await text.fill("/nothing");
  await option.waitFor({ state: "hidden" });
  await text.fill("");
});

test("the work of a sub-agent is inside the call that started it", async () => {
  const about = { session_id: CONVERSATION };
  const said = (id, parent, content) => ({ emit: { type: "assistant", ...about, parent_tool_use_id: parent, uuid: crypto.randomUUID(), message: { id, type: "message", role: "assistant", model: "claude-scripted", content: [content], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } } } });
  const result = (id, parent, text, is_error = false) => ({ emit: { type: "user", ...about, parent_tool_use_id: parent, uuid: crypto.randomUUID(), message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: text, is_error }] } } });
  stage.fake(
    said("m1", null, { type: "tool_use", id: "agent1", name: "Task", input: { description: "look for prices", prompt: "Find the prices", subagent_type: "general-purpose" } }),
    said("m2", "agent1", { type: "tool_use", id: "inner1", name: "Grep", input: { pattern: "price" } }),
    result("inner1", "agent1", "found"),
    said("m3", "agent1", { type: "tool_use", id: "inner2", name: "Read", input: { file_path: "gone.txt" } }),
    result("inner2", "agent1", "no such file", true),
    result("agent1", null, "There are three prices."),
    { turn: { text: "Three prices." } },
  );
  const session = await stage.create("go", { engine: "fake" });
  await stage.done(session);
  await go(page, `#s/${session}`);
  const agent = page.locator(".row.subagent");
  await agent.getByText("look for prices").waitFor();
  await page.locator(".row.depth-1.failed").getByText("gone.txt").first().waitFor();
  assert.equal(await page.locator('.row[data-key="inner1"]').count(), 0, "what went well is folded");
  await agent.locator("button.fold").click();
  await page.locator('.row.depth-1[data-key="inner1"]').waitFor();
});

test("a row becomes a command that works in a terminal, and a link that works in another tab", async () => {
  const session = await stage.create("hello");
  await stage.done(session);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await go(page, `#s/${session}`);
  const row = page.locator(".row[data-kind=message]");
  await row.hover();
  await row.getByRole("button", { name: /as curl/ }).click();
  await page.getByText("Command copied").waitFor();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  const answer = JSON.parse(execFileSync("sh", ["-c", command], { env: { ...process.env, FALCONER_TOKEN: stage.token }, stdio: ["ignore", "pipe", "ignore"] }));
  const seq = Number(await row.getAttribute("data-seq"));
  assert.deepEqual(answer.events[0], (await stage.events(session))[seq - 1]);
  const prompt = page.locator(".row[data-kind=prompt]");
  await prompt.hover();
  await prompt.getByRole("button", { name: /as curl/ }).click();
  await until("the other command is copied", async () => (await page.evaluate(() => navigator.clipboard.readText())) !== command);
  const send = await page.evaluate(() => navigator.clipboard.readText());
  execFileSync("sh", ["-c", send], { env: { ...process.env, FALCONER_TOKEN: stage.token }, stdio: "ignore" });
  await stage.done(session, 2);
  await row.first().hover();
  await row.first().getByRole("button", { name: /link/ }).click();
  await page.getByText(`Link to event ${seq} copied`).waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(link, `${stage.url}/#s/${session}/${seq}`);
  const other = await page.context().newPage();
  await other.goto(link);
  await other.locator(`.row.marked[data-seq="${seq}"]`).waitFor();
  await other.close();
});

test("the search walks through all that was said, newest first", async () => {
  const session = await stage.create("hello");
  await stage.done(session);
  await stage.send(session, "many tools");
  await stage.done(session, 2);
  await go(page, `#s/${session}`);
  await page.locator(".row[data-kind=turn]").nth(1).waitFor();
  await page.locator(".timeline").focus();
  await page.keyboard.press("/");
  const field = page.getByLabel("Search in this session", { exact: true });
  await field.fill("pattern");
  const count = page.locator(".search .note");
  await until("they are counted", async () => (await count.textContent()) === "3 of 3");
  await page.locator(".row.action.marked").getByText("*.no").first().waitFor();
  await field.press("Enter");
  await until("it goes round", async () => (await count.textContent()) === "1 of 3");
  await field.press("Shift+Enter");
  await until("and back", async () => (await count.textContent()) === "3 of 3");
  await field.fill("nothing like it");
  await until("nothing is said", async () => (await count.textContent()) === "nothing");
  await field.press("Escape");
  assert.equal(await page.locator(".search").isVisible(), false);
});

test("a file is attached by dropping it, and taken off again", async () => {
  const session = await stage.create("hello");
  await stage.done(session);
  await go(page, `#s/${session}`);
  const drop = (name) =>
    page.locator(".composer").evaluate((form, given) => {
      const data = new DataTransfer();
      data.items.add(new File(["some words"], given, { type: "text/plain" }));
      for (const type of ["dragover", "drop"]) form.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }, name);
  await drop("wrong.txt");
  await drop("notes.txt");
  const attached = page.locator(".attached li");
  await attached.getByText(/notes\.txt · 10 B/).waitFor();
  await page.getByRole("button", { name: "Remove wrong.txt" }).click();
  await until("one is left", async () => (await attached.count()) === 1);
  await page.getByLabel("Message to the agent").fill("read these");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const file = page.locator(".prompt a.file").getByText("notes.txt · 10 B");
  await file.waitFor();
  const sent = await page.request.get(await file.evaluate((link) => link.href));
  assert.equal(await sent.text(), "some words");
});

test("the meter says what was used, and by what", async () => {
  const session = await stage.create("hello");
  await stage.done(session);
  await go(page, `#s/${session}`);
  const meter = page.locator(".meter");
  await meter.getByText(/(context|tokens) · \$/).waitFor();
  await meter.click();
  const table = page.locator("dialog .usage");
  await table.getByText("Written", { exact: true }).waitFor();
  const written = Number((await table.locator("tr", { hasText: /^Written\d/ }).locator("td").textContent()).replaceAll(/\D/g, ""));
  const turn = (await stage.events(session)).find((event) => event.type === "turn.completed");
  assert.equal(written, turn.data.tokens.output);
  await page.keyboard.press("Escape");
});

test("the rail lists sessions by who needs somebody, with what was said", async () => {
  await go(page, "#rules");
  const made = {
    finished: await stage.create("hello", { title: "Has finished" }),
    question: await stage.create("ask me", { title: "Has a question" }),
    permission: await stage.create("run a command", { title: "Wants to run" }),
  };
  await Promise.all([stage.done(made.finished), stage.pending(made.question), stage.pending(made.permission)]);
  const of = (id) => page.locator(`.session[href="#s/${id}"]`);
  for (const [need, id] of Object.entries(made)) await page.locator(`.session[data-need=${need}][href="#s/${id}"]`).waitFor();
  const needs = await page.locator(".session").evaluateAll((all) => all.map((one) => one.dataset.need));
  const order = ["permission", "question", "failed", "interrupted", "finished", "running", "idle", "closed"];
  assert.deepEqual(needs, needs.toSorted((one, other) => order.indexOf(one) - order.indexOf(other)));
  await of(made.finished).locator(".session-about").getByText("Said and done.").waitFor();
  await of(made.permission).locator(".session-about").getByText("I run it.").waitFor();
  await until("the title counts", async () => (await page.title()) === "(2) Falconer");
  await of(made.finished).click();
  await page.getByText("Said and done.").first().waitFor();
  await until("it is read", async () => (await of(made.finished).getAttribute("data-need")) === "idle");
  await page.getByLabel("Filter sessions").fill("wants to");
  await until("one is left", async () => (await page.locator(".session").count()) === 1);
  await page.getByLabel("Filter sessions").fill("");
  for (const id of [made.question, made.permission]) await stage.api("POST", `/v1/sessions/${id}/close`, {});
  await until("nothing is counted", async () => !(await page.title()).startsWith("("));
});

test("the look is chosen, and kept", async () => {
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.getByLabel("Theme").selectOption("dark");
  assert.equal(await background(), "rgb(20, 23, 28)");
  await page.reload();
  await page.waitForSelector(".rail");
  assert.equal(await background(), "rgb(20, 23, 28)");
  await page.getByLabel("Theme").selectOption("");
  assert.equal(await background(), "rgb(255, 255, 255)");
});

test("a model is switched while the session lives", async () => {
  stage.fake({ turn: { text: "Here I am." } });
  const session = await stage.create("hello", { engine: "fake" });
  await stage.done(session);
  await go(page, `#s/${session}`);
  const model = page.getByLabel("Model", { exact: true });
  await model.locator("option[value=default]").waitFor({ state: "attached" });
  await model.selectOption("default");
  await until("it is changed", async () => (await stage.api("GET", `/v1/sessions/${session}`)).model === "default");
});

test("a picture is attached by pasting, and shown", async () => {
  const session = await stage.create("hello");
  await stage.done(session);
  await go(page, `#s/${session}`);
  const text = page.getByLabel("Message to the agent");
  await text.focus();
  await page.evaluate((dot) => {
    const bytes = Uint8Array.from(atob(dot), (letter) => letter.charCodeAt(0));
    const data = new DataTransfer();
    data.items.add(new File([bytes], "dot.png", { type: "image/png" }));
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, DOT);
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
  await page.getByLabel("Session name").fill("New name");
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
