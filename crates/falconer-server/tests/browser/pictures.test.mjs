// A picture of every state, in light, in dark and on a phone, for people to look at.

import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import assert from "node:assert/strict";

import { Stage, artefacts, go, until } from "./stage.mjs";

const stage = await Stage.open();
const LOOKS = {
  light: { viewport: { width: 1360, height: 860 }, colorScheme: "light" },
  dark: { viewport: { width: 1360, height: 860 }, colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: "light", deviceScaleFactor: 2 },
};

test("pictures are taken", async () => {
  const empty = await stage.visit("", LOOKS.light);
  await empty.getByText("Agents at work").waitFor();
  await empty.screenshot({ path: path.join(artefacts, "first-light.png") });
  const sessions = {
    permission: await stage.create("run a command", { title: "Update the changelog" }),
    diff: await stage.create("write a file", { title: "Write the release notes" }),
    question: await stage.create("ask me", { title: "Landing page" }),
    plan: await stage.create("make a plan", { title: "Move to the new store", mode: "plan" }),
    background: await stage.create("look around", { title: "Look around", engine: "fake" }),
    tools: await stage.create("many tools", { title: "Find the notes" }),
    hostile: await stage.create("be hostile", { title: "Read a strange page" }),
  };
  for (const [name, id] of Object.entries(sessions)) if (name !== "tools") await stage.pending(id);
  await stage.done(sessions.tools);
  const views = { ...Object.fromEntries(Object.entries(sessions).map(([name, id]) => [name, `#s/${id}`])), approvals: "#approvals", rules: "#rules", new: "#new", home: "#" };
  for (const [look, options] of Object.entries(LOOKS)) {
    const page = await stage.visit("", options);
    for (const [name, hash] of Object.entries(views)) {
      await go(page, hash);
      await until("it is drawn", () => page.locator(hash === "#" && look === "phone" ? ".rail" : "#main > *").count());
      await page.waitForTimeout(400);
      await page.screenshot({ path: path.join(artefacts, `${name}-${look}.png`) });
    }
    await page.context().close();
  }
  const made = fs.readdirSync(artefacts).filter((file) => file.endsWith(".png"));
  assert.ok(made.length >= 3 * Object.keys(views).length);
});
