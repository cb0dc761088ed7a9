// Images that tools return: shown inside the call, in full behind a link, and only if they are some.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";

import { CONVERSATION, DOT, Stage, go, until, violations } from "./stage.mjs";

const stage = await Stage.open();
const page = await stage.visit();
const asked = [];
page.on("request", (request) => asked.push(new URL(request.url()).pathname));

const isDecoded = (image) => image.complete && image.naturalWidth > 0 && image.naturalHeight > 0;

/** A call of the engine `fake` that returns this. */
function returns(content) {
  const about = { session_id: CONVERSATION, parent_tool_use_id: null };
  const call = { type: "tool_use", id: "shot", name: "mcp__screen__shot", input: {} };
  const message = { id: "m1", type: "message", role: "assistant", model: "claude-scripted", content: [call], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
  const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "shot", content }] };
  stage.fake(
    { emit: { type: "assistant", ...about, uuid: crypto.randomUUID(), message } },
    { emit: { type: "user", ...about, uuid: crypto.randomUUID(), message: result } },
    { turn: { text: "Here it is." } },
  );
}

const block = (media_type, data) => ({ type: "image", source: { type: "base64", media_type, data } });

/** Opens the only call of a session that is done. */
async function openCall(session) {
  await stage.done(session);
  await go(page, `#s/${session}`);
  const row = page.locator(".row.action");
  await row.locator("button.fold").click();
  await row.locator(".detail").waitFor();
  return row;
}

test("an image that was read is inside its call, and in full behind it", async () => {
  fs.writeFileSync(path.join(stage.project, "dot.png"), Buffer.from(DOT, "base64"));
  const session = await stage.create("look at the picture");
  await stage.done(session);
  await go(page, `#s/${session}`);
  const row = page.locator(".row.action");
  await row.getByText("1 image").waitFor();
  assert.ok(!asked.some((one) => one.startsWith("/v1/attachments/")), "nothing is loaded before it is looked at");
  await row.locator("button.fold").click();
  const image = row.getByRole("img", { name: /^Image from Read .*dot\.png, 70 B$/ });
  await until("it is decoded", () => image.evaluate(isDecoded));
  assert.equal(await image.getAttribute("loading"), "lazy");
  await row.getByText("[image, 70 B]").waitFor();
  assert.deepEqual(await violations(page), []);

  const link = row.getByRole("link", { name: /^Image from Read/ });
  await link.focus();
  const [full] = await Promise.all([page.context().waitForEvent("page"), page.keyboard.press("Enter")]);
  await until("it is shown in full", () => full.evaluate(() => document.contentType === "image/png" && document.images[0]?.naturalWidth === 1));
  await full.close();
});

test("a large image keeps to its place, on a phone too", async () => {
  const { data, media_type } = await page.evaluate(() => {
    const canvas = new OffscreenCanvas(3000, 2000);
    const pen = canvas.getContext("2d");
    pen.fillStyle = "#357";
    pen.fillRect(0, 0, 3000, 2000);
    return canvas.convertToBlob({ type: "image/webp" }).then(async (blob) => {
      const bytes = new Uint8Array(await blob.arrayBuffer());
      return { media_type: blob.type, data: btoa(String.fromCharCode(...bytes)) };
    });
  });
  assert.equal(media_type, "image/webp");
  returns([block(media_type, data), block("image/png", DOT)]);
  const row = await openCall(await stage.create("go", { engine: "fake" }));
  const image = row.getByRole("img", { name: /^Image 1 from mcp__screen__shot screen: shot/ });
  await until("it is decoded", () => image.evaluate((one) => one.complete && one.naturalWidth === 3000));
  await row.getByRole("img", { name: /^Image 2 from/ }).waitFor();
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 740 });
    await until("it fits", async () => {
      const box = await image.boundingBox();
      return box.height <= 330 && box.width <= Math.min(width, 650);
    });
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} pixels too wide at ${width}`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
});

test("what only says that it is an image is a note", async () => {
  const base64 = (text) => Buffer.from(text).toString("base64");
  returns([
    block("image/png", base64("<html><script>window.hacked=1</script></html>")),
    block("image/svg+xml", base64('<svg xmlns="http://www.w3.org/2000/svg" onload="window.hacked=1"/>')),
    block("image/png", "%%%"),
    { type: "image", source: { type: "url", url: "https://evil.example/pixel.png" } },
  ]);
  const session = await stage.create("go", { engine: "fake" });
  const before = asked.length;
  const row = await openCall(session);
  const text = await row.locator(".detail").textContent();
  for (const note of ["[image, 45 B, not shown: no PNG, JPEG, GIF or WebP]", "[image, 2 B, not shown: its base64 is broken]", "[image]"]) {
    assert.ok(text.includes(note), `${note} is not in ${text}`);
  }
  assert.equal(await row.locator("img").count(), 0);
  const events = await stage.events(session);
  assert.ok(events.every((event) => event.data.content?.images === undefined));
  assert.ok(!asked.slice(before).some((one) => one.startsWith("/v1/attachments/") || one.includes("evil")));
  assert.equal(await page.evaluate(() => window.hacked), undefined);
});

test("the page needs no network beyond its server, and does not complain", () => {
  assert.deepEqual(page.complaints, []);
});
