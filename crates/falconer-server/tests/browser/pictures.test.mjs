// A picture of every state, in light, in dark and on a phone, for people to look at. One of them is
// in the README; with `FALCONER_README_PICTURE` set to its path it is taken anew.

import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import assert from "node:assert/strict";

import { Stage, artefacts, go, until } from "./stage.mjs";

const stage = await Stage.open();
const LOOKS = {
  light: { viewport: { width: 1360, height: 860 }, colorScheme: "light" },
  dark: { viewport: { width: 1360, height: 860 }, colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: "light", deviceScaleFactor: 2, hasTouch: true },
};

/** Takes a picture in which the folders of this machine have the names of nobody's. */
async function take(page, file) {
  await page.evaluate((place) => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.data.includes(place)) node.data = node.data.replaceAll(place, "/home/ana");
    }
    for (const name of document.querySelectorAll(".who")) name.textContent = "Ana";
    for (const field of document.querySelectorAll("input")) field.value = field.value.replaceAll(place, "/home/ana");
  }, path.join(stage.root, "work"));
  await page.screenshot({ path: file, animations: "disabled" });
}

/** A shop with something to repair in it. */
function shop() {
  fs.mkdirSync(path.join(stage.project, "src"), { recursive: true });
  fs.writeFileSync(path.join(stage.project, "src/cart.js"), "export function total(cart) {\n  const sum = subtotal(cart);\n  return withTax(sum) - cart.coupon;\n}\n");
}

/** A chart, drawn by the browser, where the agent looks for a picture. */
async function chart(page) {
  const data = await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(640, 360);
    const pen = canvas.getContext("2d");
    pen.fillStyle = "#fff";
    pen.fillRect(0, 0, 640, 360);
    [120, 180, 150, 240, 300].forEach((height, index) => {
      pen.fillStyle = `hsl(${200 + 15 * index} 60% 50%)`;
      pen.fillRect(50 + 115 * index, 340 - height, 80, height);
    });
    const blob = await canvas.convertToBlob({ type: "image/png" });
    return btoa(String.fromCharCode(...new Uint8Array(await blob.arrayBuffer())));
  });
  fs.writeFileSync(path.join(stage.project, "dot.png"), Buffer.from(data, "base64"));
}

/** Opens a call and waits for its image. */
async function openImage(page) {
  const row = page.locator(".row.action");
  await row.locator("button.fold").click();
  await until("the image is decoded", () => row.getByRole("img").evaluate((image) => image.complete && image.naturalWidth > 0));
}

const click = (name) => (page) => page.getByRole("button", { name, exact: true }).first().click();
const press = (...keys) => async (page) => {
  await page.locator("#main").focus();
  for (const key of keys) await page.keyboard.press(key);
};

test("pictures are taken", { timeout: 300_000 }, async () => {
  const outside = await (await stage.browser.newContext(LOOKS.light)).newPage();
  await outside.goto(stage.url);
  await outside.getByText("You are not signed in").waitFor();
  await take(outside, path.join(artefacts, "login-light.png"));
  shop();
  const empty = await stage.visit("", LOOKS.light);
  await empty.getByText("Agents at work").waitFor();
  await take(empty, path.join(artefacts, "first-light.png"));
  await chart(empty);
  stage.fake();
  const sessions = {
    background: await stage.create("look around", { title: "Look around", engine: "fake" }),
  };
  await stage.pending(sessions.background);
  stage.fake({ ask: { subtype: "elicitation", mcp_server_name: "meetup", message: "Who comes to the meeting?", requested_schema: { type: "object", properties: { name: { type: "string", title: "Name" }, guests: { type: "integer", title: "Guests" }, size: { type: "string", enum: ["S", "M"], title: "T-shirt" } }, required: ["name"] } } }, { turn: { text: "Thank you." } });
  Object.assign(sessions, {
    tools: await stage.create("many tools", { title: "Find the notes" }),
    image: await stage.create("look at the picture", { title: "Read the chart" }),
    hostile: await stage.create("be hostile", { title: "Read a strange page" }),
    form: await stage.create("go", { title: "Plan the meeting", engine: "fake" }),
    plan: await stage.create("make a plan", { title: "Move to the new store", mode: "plan" }),
    question: await stage.create("ask me", { title: "Landing page" }),
    diff: await stage.create("The total is wrong when a coupon is used. Find out why and repair it.", { title: "Repair the cart" }),
    permission: await stage.create("run a command", { title: "Update the changelog" }),
  });
  const ended = ["tools", "image"];
  for (const [name, id] of Object.entries(sessions)) await (ended.includes(name) ? stage.done(id) : stage.pending(id));
  const at = (name) => `#s/${sessions[name]}`;
  const views = {
    ...Object.fromEntries(Object.keys(sessions).map((name) => [name, [at(name)]])),
    image: [at("image"), openImage],
    edit: [at("permission"), click("Edit")],
    always: [at("permission"), click("Always…")],
    search: [at("tools"), click("Search in this session (/)"), (page) => page.getByLabel("Search in this session", { exact: true }).fill("pattern")],
    raw: [at("tools"), (page) => page.getByText("All done.", { exact: true }).waitFor(), press("k", "r"), (page) => page.locator("dialog .raw").getByText("seq").waitFor()],
    menu: [at("tools"), click("More")],
    keys: ["#", press("?")],
    approvals: ["#approvals"],
    rules: ["#rules"],
    new: ["#new"],
    home: ["#"],
  };
  for (const [look, options] of Object.entries(LOOKS)) {
    const page = await stage.visit("", options);
    for (const [name, [hash, ...steps]] of Object.entries(views)) {
      await go(page, "#rules");
      await go(page, hash);
      await until("it is drawn", () => page.locator(hash === "#" && look === "phone" ? ".rail" : "#main > *").count());
      for (const step of steps) await step(page);
      await page.waitForTimeout(300);
      await take(page, path.join(artefacts, `${name}-${look}.png`));
      const readme = process.env.FALCONER_README_PICTURE;
      if (readme && name === "diff" && look === "light") await take(page, readme);
      for (const dialog of await page.locator("dialog[open]").all()) await dialog.evaluate((element) => element.close());
    }
    assert.deepEqual(page.complaints, []);
    await page.context().close();
  }
  const made = fs.readdirSync(artefacts).filter((file) => file.endsWith(".png"));
  assert.ok(made.length >= 3 * Object.keys(views).length);
});
