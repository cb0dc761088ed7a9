// Keyboard alone, small screens, reduced motion, and what axe-core says.

import assert from "node:assert/strict";
import test from "node:test";

import { Stage, go, until, violations } from "./stage.mjs";

const stage = await Stage.open();

test("a whole session with the keyboard alone", async () => {
  const page = await stage.visit();
  await page.getByText("Agents work, you decide").waitFor();
  const armed = () => page.waitForSelector(".card:not(.settled)[data-armed=yes]");
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "");
  await page.keyboard.press("n");
  await page.locator("#folder").focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.type(stage.project);
  for (let step = 0; step < 40 && !(await page.evaluate(() => document.activeElement?.getAttribute("name") === "engine")); step += 1) await page.keyboard.press("Tab");
  await page.locator("select[name=engine] option[value=script]").waitFor({ state: "attached" });
  await page.keyboard.type("script");
  for (let step = 0; step < 40 && !(await page.evaluate(() => document.activeElement?.getAttribute("name") === "text")); step += 1) await page.keyboard.press("Tab");
  await page.keyboard.type("run a command");
  for (let step = 0; step < 10 && (await focused()) !== "Start session"; step += 1) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".card");
  await page.keyboard.press("a");
  assert.equal(await page.locator(".card:not(.settled)").count(), 1, "a key without the focus on the card answers nothing");
  await page.keyboard.press("p");
  await until("the card has the focus", async () => (await focused()).includes("asks for permission"));
  await armed();
  await page.keyboard.press("e");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("echo keys >> keys.txt");
  await page.keyboard.press("Escape");
  await page.keyboard.press("p");
  await armed();
  await page.keyboard.press("a");
  await page.locator(".versions").getByText("echo keys >> keys.txt").waitFor();
  await page.getByText("All done.", { exact: true }).waitFor();
  await page.keyboard.press("k");
  await until("a row has the focus", () => page.evaluate(() => document.activeElement?.classList.contains("row")));
  await page.keyboard.press("k");
  await page.keyboard.press("r");
  await page.locator("dialog .raw").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("c");
  await until("the composer has the focus", async () => (await focused()) === "Message to the agent");
  await page.keyboard.type("hello again");
  await page.keyboard.press("Enter");
  await page.locator(".prompt").getByText("hello again").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.locator("dialog").getByText("On a permission card").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await page.getByText("Nothing needs your answer").waitFor();
  assert.deepEqual(page.complaints, []);
});

const views = async () => {
  const permission = await stage.create("run a command", { title: "Wants to run a command" });
  const question = await stage.create("ask me", { title: "Asks" });
  const plan = await stage.create("make a plan", { title: "Plans", mode: "plan" });
  const tools = await stage.create("many tools", { title: "Tools" });
  await Promise.all([stage.pending(permission), stage.pending(question), stage.pending(plan), stage.done(tools)]);
  return [`#s/${permission}`, `#s/${question}`, `#s/${plan}`, `#s/${tools}`, "#approvals", "#rules", "#new", "#"];
};

test("axe-core finds nothing, in light, dark and on a phone", async () => {
  const addresses = await views();
  for (const options of [{ colorScheme: "light" }, { colorScheme: "dark" }, { viewport: { width: 390, height: 844 } }]) {
    const page = await stage.visit("", options);
    for (const address of addresses) {
      await go(page, address);
      await until("something is drawn", () => page.locator("#main > *").count());
      await page.waitForTimeout(250);
      assert.deepEqual(await violations(page), [], `${JSON.stringify(options)} ${address}`);
    }
    await page.context().close();
  }
});

test("a narrow screen shows everything without scrolling sideways", async () => {
  const page = await stage.visit("", { viewport: { width: 360, height: 740 }, hasTouch: true });
  const addresses = await views();
  for (const address of addresses) {
    await go(page, address);
    await page.waitForTimeout(200);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${address} is ${overflow} pixels too wide`);
  }
  await go(page, addresses[0]);
  const allow = page.getByRole("button", { name: "Allow once" });
  const box = await allow.boundingBox();
  assert.ok(box.height >= 36, "big enough for a thumb");
  assert.ok(box.y + box.height <= 740, "on the screen");
  await allow.tap();
  await page.getByText("All done.", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Back to sessions" }).first().tap();
  await page.locator(".rail").waitFor();
});

test("who wants no motion gets none", async () => {
  const page = await stage.visit("", { reducedMotion: "reduce" });
  const session = await stage.create("write slowly");
  await go(page, `#s/${session}`);
  await page.locator(".mark.running").first().waitFor();
  const moving = await page.evaluate(() => document.getAnimations().length);
  assert.equal(moving, 0);
});

test("what happens is announced", async () => {
  const page = await stage.visit();
  const session = await stage.create();
  await go(page, `#s/${session}`);
  await page.locator(".pill[data-state=live]").waitFor();
  await stage.send(session, "run a command");
  await page.locator("#announcements").getByText("Bash asks for permission").waitFor({ state: "attached" });
});
