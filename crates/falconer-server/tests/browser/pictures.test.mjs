// A picture of every state, in light, in dark and on a phone, for people to look at. Each has the size
// of the screen, shows something, shows what it should, and no two are the same. One of them is in the
// README; with `FALCONER_README_PICTURE` set to its path it is taken anew.

import { createHash } from "node:crypto";
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

/** The pictures of this run, by what their bytes are. */
const taken = new Map();

/** Fails unless a picture fills the screen, shows something, and is not one that was taken before. */
async function check(page, file, { viewport, deviceScaleFactor = 1, colorScheme }) {
  const bytes = fs.readFileSync(file);
  const name = path.basename(file);
  const digest = createHash("sha256").update(bytes).digest("hex");
  assert.equal(taken.get(digest), undefined, `${name} is the same picture`);
  taken.set(digest, name);
  const seen = await page.evaluate(async (data) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))]));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    const { data: pixels } = pen.getImageData(0, 0, image.width, image.height);
    const colors = new Set();
    let light = 0;
    for (let at = 0; at < pixels.length; at += 4) {
      colors.add((pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2]);
      light += (pixels[at] + pixels[at + 1] + pixels[at + 2]) / 765;
    }
    return { size: [image.width, image.height], colors: colors.size, light: light / (pixels.length / 4) };
  }, bytes.toString("base64"));
  assert.deepEqual(seen.size, [viewport.width * deviceScaleFactor, viewport.height * deviceScaleFactor], name);
  assert.ok(seen.colors > 64, `${name} has ${seen.colors} colours: nothing is written on it`);
  assert.equal(seen.light > 0.5, colorScheme === "light", `${name} is ${seen.light} light`);
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
  await empty.getByText("Agents work, you decide").waitFor();
  await take(empty, path.join(artefacts, "first-light.png"));
  await chart(empty);
  stage.fake();
  const titles = {
    background: "Look around", tools: "Find the notes", image: "Read the chart", hostile: "Read a strange page",
    form: "Plan the meeting", plan: "Move to the new store", question: "Landing page", diff: "Repair the cart",
    permission: "Update the changelog",
  };
  const create = (name, prompt, wish = {}) => stage.create(prompt, { title: titles[name], ...wish });
  const sessions = { background: await create("background", "look around", { engine: "fake" }) };
  await stage.pending(sessions.background);
  stage.fake({ ask: { subtype: "elicitation", mcp_server_name: "meetup", message: "Who comes to the meeting?", requested_schema: { type: "object", properties: { name: { type: "string", title: "Name" }, guests: { type: "integer", title: "Guests" }, size: { type: "string", enum: ["S", "M"], title: "T-shirt" } }, required: ["name"] } } }, { turn: { text: "Thank you." } });
  Object.assign(sessions, {
    tools: await create("tools", "many tools"),
    image: await create("image", "look at the picture"),
    hostile: await create("hostile", "be hostile"),
    form: await create("form", "go", { engine: "fake" }),
    plan: await create("plan", "make a plan", { mode: "plan" }),
    question: await create("question", "ask me"),
    diff: await create("diff", "The total is wrong when a coupon is used. Find out why and repair it."),
    permission: await create("permission", "run a command"),
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
  // The page itself may not read what is not its own.
  const blank = await (await stage.browser.newContext()).newPage();
  for (const [look, options] of Object.entries(LOOKS)) {
    const page = await stage.visit("", options);
    for (const [name, [hash, ...steps]] of Object.entries(views)) {
      await go(page, "#rules");
      await go(page, hash);
      await until("it is drawn", () => page.locator(hash === "#" && look === "phone" ? ".rail" : "#main > *").count());
      for (const step of steps) await step(page);
      const title = titles[name];
      if (title) await until(`${name} has its title`, () => page.getByText(title, { exact: true }).filter({ visible: true }).count());
      const file = path.join(artefacts, `${name}-${look}.png`);
      await page.waitForTimeout(300);
      await take(page, file);
      await check(blank, file, options);
      const readme = process.env.FALCONER_README_PICTURE;
      if (readme && name === "diff" && look === "light") await take(page, readme);
      for (const dialog of await page.locator("dialog[open]").all()) await dialog.evaluate((element) => element.close());
    }
    assert.deepEqual(page.complaints, []);
    await page.context().close();
  }
  assert.equal(taken.size, Object.keys(LOOKS).length * Object.keys(views).length);
});
