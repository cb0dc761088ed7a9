// Presses that must not count: too early, on a card that moved, begun elsewhere, before it was read.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";

import { Stage, artefacts, go, until } from "./stage.mjs";

const stage = await Stage.open();
const page = await stage.visit();
const bash = (command, id) => ({ ask: { subtype: "can_use_tool", tool_name: "Bash", tool_use_id: id, input: { command } } });

/** A session whose agent asks for these, one after the other. */
async function asks(...inputs) {
  stage.fake(...inputs, { turn: { text: "That is all." } });
  const session = await stage.create("go", { engine: "fake" });
  await go(page, `#s/${session}`);
  await card(session);
  return session;
}

/** The card of the request that is open. */
async function card(session) {
  const [request] = await stage.pending(session);
  await page.waitForSelector(`[id="card-${request.id}"]`);
  return page.locator(`[id="card-${request.id}"]`);
}

const armed = () => page.waitForSelector(".card:not(.settled)[data-armed=yes]");
const allow = () => page.locator(".card:not(.settled) .answers .allow");

async function resolutions(session) {
  const events = (await stage.events(session)).filter((event) => event.type === "permission.resolved");
  return events.map((event) => event.data.resolution);
}

/** Answers what is left, so that the session ends. */
async function refuse(session) {
  await stage.api("POST", `/v1/sessions/${session}/close`, {});
}

/** Where the button is now. */
async function middle(button) {
  const box = await button.boundingBox();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

for (const gap of [0, 60, 150, 250, 400, 600]) {
  test(`a second click after ${gap} ms does not answer the next card`, async () => {
    const session = await asks(bash("echo one", "toolu_1"), bash("echo two", "toolu_2"));
    await armed();
    const [x, y] = await middle(allow());
    await page.mouse.click(x, y);
    const began = Date.now();
    while (Date.now() - began < gap) await new Promise((resolve) => setTimeout(resolve, 5));
    await page.mouse.click(x, y);
    await until("the second one is asked", async () => (await resolutions(session)).length === 1);
    const next = await card(session);
    assert.equal(await next.locator(".command").textContent(), "echo two");
    assert.deepEqual(await resolutions(session), ["allowed"]);
    await armed();
    await page.mouse.click(...(await middle(allow())));
    await until("a press that was meant counts", async () => (await resolutions(session)).length === 2);
    await stage.done(session);
  });
}

test("a card shows that it is not ready, and then that it is", async () => {
  const session = await asks(bash("echo one", "toolu_1"));
  const button = allow();
  assert.equal(await button.getAttribute("aria-disabled"), "true");
  const [x, y] = await middle(button);
  for (let press = 0; press < 3; press += 1) await page.mouse.click(x, y);
  assert.deepEqual(await resolutions(session), []);
  await armed();
  assert.equal(await button.getAttribute("aria-disabled"), "false");
  await refuse(session);
});

test("keys do not answer a card before it is ready, nor do held ones", async () => {
  const session = await asks(bash("echo one", "toolu_1"));
  const one = await card(session);
  await one.focus();
  for (const key of ["a", "d", "x"]) await page.keyboard.press(key);
  await allow().focus();
  for (const key of ["Enter", "Space"]) await page.keyboard.press(key);
  assert.deepEqual(await resolutions(session), []);
  await allow().focus();
  await page.keyboard.down("Enter");
  await armed();
  for (let repeat = 0; repeat < 5; repeat += 1) await page.keyboard.down("Enter");
  await page.keyboard.up("Enter");
  assert.deepEqual(await resolutions(session), [], "a key that was held since before is no press");
  await page.keyboard.press("Enter");
  await until("a press that was meant counts", async () => (await resolutions(session)).length === 1);
  await stage.done(session);
});

test("a press that began elsewhere, or before, does not count", async () => {
  const session = await asks(bash("echo one", "toolu_1"));
  const [x, y] = await middle(allow());
  await page.mouse.move(x, y);
  await page.mouse.down();
  await armed();
  await page.mouse.up();
  assert.deepEqual(await resolutions(session), [], "it began before the card was ready");
  await page.mouse.move(x, y - 60);
  await page.mouse.down();
  await page.mouse.move(x, y);
  await page.mouse.up();
  assert.deepEqual(await resolutions(session), [], "it began elsewhere");
  await refuse(session);
});

test("a card that moves has to be looked at again", async () => {
  const session = await asks(bash("echo one", "toolu_1"));
  await armed();
  const pressed = await page.evaluate(() => {
    const press = document.querySelector(".card:not(.settled) .answers .allow");
    const one = press.closest(".card");
    one.style.marginBottom = "40px";
    press.click();
    return one.dataset.armed;
  });
  assert.equal(pressed, "yes", "it was ready until then");
  assert.deepEqual(await resolutions(session), []);
  await page.waitForSelector(".card:not(.settled)[data-armed=no] .answers .allow", { state: "attached" });
  await armed();
  await refuse(session);
});

test("what is hidden from sight is not ready", async () => {
  const session = await asks(bash("echo one", "toolu_1"));
  await page.evaluate(() => Object.defineProperty(document, "hidden", { configurable: true, get: () => true }));
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await page.waitForTimeout(900);
  assert.equal(await page.locator(".card[data-armed=yes]").count(), 0);
  await page.evaluate(() => Reflect.deleteProperty(document, "hidden"));
  await armed();
  await refuse(session);
});

/** Turns page after page until nothing is left. */
async function readAll() {
  await until("all was in sight", async () => {
    if (await page.locator(".card:not(.settled)[data-armed=yes]").count()) return true;
    await page.getByRole("button", { name: "Show the next part" }).click({ timeout: 1000 }).catch(() => {});
    return false;
  });
}

test("a long command is allowed after all of it was seen, and denied at once", async () => {
  const long = Array.from({ length: 200 }, (_, number) => `echo ${number}`).join("\n");
  const session = await asks(bash(`${long}\nrm -rf /`, "toolu_1"));
  await page.waitForSelector(".card[data-armed=unread]");
  assert.equal(await allow().getAttribute("aria-disabled"), "true");
  await page.mouse.click(...(await middle(allow())));
  await (await card(session)).focus();
  await page.keyboard.press("a");
  assert.deepEqual(await resolutions(session), []);
  await page.getByText("View the whole request to allow it.").waitFor();
  await page.screenshot({ path: path.join(artefacts, "guard-unread.png") });
  await page.locator(".card .command").evaluate((one) => one.scrollTo(0, one.scrollHeight));
  await page.waitForTimeout(900);
  assert.equal(await page.locator(".card[data-armed=yes]").count(), 0, "its middle was never in sight");
  await readAll();
  await page.screenshot({ path: path.join(artefacts, "guard-read.png") });
  await page.mouse.click(...(await middle(allow())));
  await until("it is allowed", async () => (await resolutions(session)).length === 1);
  const [resolved] = (await stage.events(session)).filter((event) => event.type === "permission.resolved");
  assert.equal(resolved.data.shown, "page");
  const second = await asks(bash(`${long}\nrm -rf /`, "toolu_1"));
  await page.waitForSelector(".card[data-armed=unread]");
  await page.getByRole("button", { name: "Deny", exact: true }).click();
  await until("it is denied", async () => (await resolutions(second)).length === 1);
});

test("lines that are shown on demand have to be seen, too", async () => {
  const content = Array.from({ length: 700 }, (_, number) => `line ${number}`).join("\n");
  const input = { file_path: "/tmp/long.txt", content };
  const session = await asks({ ask: { subtype: "can_use_tool", tool_name: "Write", tool_use_id: "toolu_1", input } });
  await page.waitForSelector(".card[data-armed=unread]");
  const more = page.locator(".card .diff .more");
  await until("the end is reached", async () => {
    await page.locator(".card .diff").evaluate((one) => one.scrollBy(0, one.clientHeight - 40));
    return page.locator(".card .diff").evaluate((one) => one.scrollTop + one.clientHeight >= one.scrollHeight - 2);
  });
  await page.waitForTimeout(900);
  await more.click();
  await page.waitForTimeout(900);
  assert.equal(await page.locator(".card[data-armed=yes]").count(), 0, "a hundred lines were not in sight");
  await readAll();
  await page.mouse.click(...(await middle(allow())));
  await until("it is allowed", async () => (await resolutions(session)).length === 1);
  await stage.done(session);
});

test("what covers the middle of a command keeps it from being read", async () => {
  const lines = Array.from({ length: 12 }, (_, number) => `echo ${number}`).join("\n");
  const first = await asks(bash(lines, "toolu_1"));
  await armed();
  const box = await page.locator(".card .command").boundingBox();
  await refuse(first);
  await page.evaluate((top) => {
    const cover = document.createElement("div");
    cover.id = "cover";
    cover.style.cssText = `position:fixed;left:0;right:0;top:${top}px;height:40px;background:#fff;z-index:99`;
    document.body.append(cover);
  }, box.y + box.height / 2 - 20);
  const session = await asks(bash(lines, "toolu_1"));
  await page.screenshot({ path: path.join(artefacts, "guard-covered.png") });
  await page.waitForSelector(".card:not(.settled)[data-armed=unread]");
  await page.locator("#cover").evaluate((one) => one.remove());
  await armed();
  await refuse(session);
});

test("keys of a text or a chord do not answer a card", async () => {
  const session = await asks(bash("echo one", "toolu_1"));
  await armed();
  await (await card(session)).focus();
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await page.waitForURL(/#approvals$/);
  assert.deepEqual(await resolutions(session), [], "it was a chord");
  await go(page, `#s/${session}`);
  await armed();
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.type("pa", { delay: 60 });
  await page.waitForTimeout(300);
  assert.deepEqual(await resolutions(session), [], "it was typed");
  await page.waitForTimeout(900);
  await page.keyboard.press("a");
  await until("a press that was meant counts", async () => (await resolutions(session)).length === 1);
  await stage.done(session);
});

test("a card names the tool, and hides nothing of its input", async () => {
  const table = [
    ["mcp__files__list__delete_all", { command: "ls", url: "https://x.invalid" }, ["server “files”, tool “list__delete_all”", '"command": "ls"', '"url": "https://x.invalid"']],
    ["Odd", { command: "ls" }, ["Tool: Odd", '"command": "ls"']],
    ["Write", { file_path: "/a\nb", content: "x\u00a0y \n", edits: [1], new_string: "z" }, ["/a⟨LF⟩b", "x⟨U+00A0⟩y⟨SP⟩", '"new_string": "z"', '"edits"']],
    ["Edit", { file_path: "/a", old_string: "x", new_string: "x\n" }, ["the new text ends with a line break"]],
    ["Bash", { command: "ls", description: { odd: "rm" } }, ['"odd": "rm"']],
    ["Bash", { command: "curl p\u0430ypal.com \ud83c\udff4\ue0b0" }, ["p⟨U+0430⟩ypal.com", "⟨U+E0B0⟩"]],
  ];
  for (const [tool_name, input, parts] of table) {
    const session = await asks({ ask: { subtype: "can_use_tool", tool_name, tool_use_id: "toolu_1", input, title: "Look around" } });
    const text = await (await card(session)).textContent();
    for (const part of parts) assert.ok(text.includes(part), `${tool_name}: ${part} is not in ${text}`);
    await refuse(session);
  }
});

test("a call that nobody allowed is not shown as running", async () => {
  const calls = ["one", "two"].map((name, at) => ({ type: "tool_use", id: `toolu_twin_${at}`, name: "Bash", input: { command: `echo ${name} >> twins.txt` } }));
  const scenario = path.join(stage.root, "scenario.json");
  const script = JSON.parse(fs.readFileSync(scenario, "utf8"));
  script.rules.unshift({ name: "twins", when: { last_user_contains: "both of them" }, reply: { message: { content: calls } } });
  fs.writeFileSync(scenario, JSON.stringify(script));
  const session = await stage.create("both of them");
  await go(page, `#s/${session}`);
  await card(session);
  const rows = page.locator(".row .status");
  await until("both calls are there", async () => (await rows.count()) >= 2);
  const states = await rows.evaluateAll((all) => all.map((one) => one.getAttribute("title")));
  assert.deepEqual(states.toSorted(), ["not started", "waiting for an answer"]);
  await refuse(session);
});

test("a project is trusted only after all of its content was seen", async () => {
  const long = Array.from({ length: 200 }, (_, number) => `echo ${number}`).join("\n");
  const item = (key, text) => ({ wish: "runs commands", file: ".claude/settings.json", key, text, scripts: [], is_new: true });
  const report = { project: stage.project, standing: "untrusted", digest: "d1", items: [item("hooks", "touch me"), item("apiKeyHelper", long)], gone: [], ignored: [] };
  const granted = [];
  await page.route("**/v1/trust**", (route) => {
    if (route.request().method() === "GET") return route.fulfill({ json: report });
    granted.push(route.request().postDataJSON());
    return route.fulfill({ json: { ...report, standing: "trusted" } });
  });
  const session = await stage.create("say hello");
  await go(page, `#s/${session}`);
  const trust = page.locator(".card.trust");
  await trust.getByRole("button", { name: "Show everything" }).click();
  const grant = trust.getByRole("button", { name: "Trust this content" });
  await page.waitForSelector(".card.trust[data-armed=unread]");
  assert.equal(await grant.getAttribute("aria-disabled"), "true");
  await page.mouse.click(...(await middle(grant)));
  assert.deepEqual(granted, []);
  await page.screenshot({ path: path.join(artefacts, "trust-unread.png") });
  await readAll();
  await page.waitForSelector(".card.trust[data-armed=yes]");
  await grant.click();
  await until("it is trusted", async () => granted.length === 1);
  assert.deepEqual(granted, [{ cwd: stage.project, digest: "d1", verdict: "grant" }]);
  await trust.waitFor({ state: "hidden" });
  await page.unroute("**/v1/trust**");
});

test("nothing went wrong in the page", () => {
  assert.deepEqual(page.complaints, []);
});
