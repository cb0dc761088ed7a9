// Bypass mode: only where the server allows it, and then nobody can overlook it.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";

import { Stage, artefacts, go, until } from "./stage.mjs";

const frameOf = (page) => page.evaluate(() => getComputedStyle(document.querySelector(".session-screen"), "::after").borderTopColor);

test("a session that runs everything without asking has a red frame", async () => {
  const stage = await Stage.open({ bypass: true });
  const page = await stage.visit();
  const session = await stage.create(undefined, { title: "Runs everything" });
  await go(page, `#s/${session}`);
  const mode = page.getByLabel("Permission mode");
  await mode.waitFor();
  assert.equal(await page.evaluate(() => document.body.classList.contains("bypass")), false);
  await mode.selectOption("bypassPermissions");
  await page.locator("body.bypass").waitFor();
  await page.locator(".bypass-note").getByText("Nothing is asked in this session").waitFor();
  const red = await page.evaluate(() => {
    const probe = document.createElement("i");
    probe.className = "bad";
    document.body.append(probe);
    return getComputedStyle(probe).color;
  });
  assert.equal(await frameOf(page), red, "the frame is red");
  await page.getByLabel("Message to the agent").fill("run a command");
  await page.keyboard.press("Enter");
  await stage.done(session);
  await until("the command ran", () => fs.existsSync(path.join(stage.project, "out.txt")));
  assert.ok(!(await stage.events(session)).some((event) => event.type === "permission.requested"), "nothing was asked");
  await page.getByText("All done.", { exact: true }).waitFor();
  await page.screenshot({ path: path.join(artefacts, "bypass-light.png") });
  await mode.selectOption("default");
  await page.locator("body:not(.bypass)").waitFor();
  await go(page, "#new");
  await page.locator("select[name=mode]").selectOption("bypassPermissions");
  await page.locator("small.bad").getByText("Runs everything without asking. Only in a sandbox.").waitFor();
  assert.deepEqual(page.complaints, []);
});

test("where it is not allowed it is not offered", async () => {
  const stage = await Stage.open();
  const page = await stage.visit();
  const session = await stage.create(undefined, { title: "Asks" });
  for (const [hash, select] of [[`#s/${session}`, "select.mode"], ["#new", "select[name=mode]"]]) {
    await go(page, hash);
    await page.locator(`${select} option[value=acceptEdits]`).waitFor({ state: "attached" });
    assert.equal(await page.locator("option[value=bypassPermissions]").count(), 0, hash);
  }
});
