// What the page costs: first paint and bytes, a session of 20,000 events, and a delta's way to
// the screen. Prints what it measured and fails if a promise is broken.

import http from "node:http";

import { CONVERSATION, Stage, go, until } from "./stage.mjs";

const EVENTS = Number(process.env.FALCONER_PAGE_EVENTS ?? 20_000);
const FRAME = 1000 / 60;

const stage = await Stage.open();
const results = [];
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const p95 = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0;

function note(what, value, unit, limit) {
  const isGood = limit === undefined || value <= limit;
  results.push(isGood);
  const bound = limit === undefined ? "" : `   limit ${limit} ${unit}${isGood ? "" : "   MISSED"}`;
  console.log(`${what.padEnd(46)} ${value.toFixed(1).padStart(9)} ${unit}${bound}`);
}

await firstPaint();
const session = await longSession();
const page = await stage.visit("", { viewport: { width: 1280, height: 900 } });
await watchDeltas(page);
await opening(page);
await scrolling(page);
await streaming(page);
await stage.close();
process.exit(results.every(Boolean) ? 0 : 1);

/** The least a page can cost in this browser: a line of HTML, nothing to load. */
async function bareServer() {
  const server = http.createServer((_, answer) => answer.setHeader("Content-Type", "text/html").end("<!doctype html><title>Bare</title><p>A line of text"));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

async function painted(one) {
  const found = await one.waitForFunction(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
  return found.jsonValue();
}

/** Paints of one address, each in a browser that has seen nothing of it. */
async function visitOf(cookies, address, bare) {
  const context = await stage.browser.newContext({ storageState: cookies });
  const one = await context.newPage();
  await one.addInitScript(() => {
    const look = new MutationObserver(() => {
      if (!document.querySelector(".rail")) return;
      globalThis.usable = performance.now();
      look.disconnect();
    });
    look.observe(document, { childList: true, subtree: true });
  });
  // The browser's own processes are started beforehand; nothing of the page is.
  await one.goto(bare);
  await one.reload();
  const floor = await painted(one);
  await one.goto(`${stage.url}/health`);
  await one.reload();
  const line = await painted(one);
  const protocol = await context.newCDPSession(one);
  let bytes = 0;
  let requests = 0;
  await protocol.send("Network.enable");
  protocol.on("Network.loadingFinished", (event) => {
    bytes += event.encodedDataLength;
    requests += 1;
  });
  await one.goto(address);
  await one.waitForSelector(".rail");
  await one.waitForLoadState("load");
  const first = { paint: await painted(one), usable: await one.evaluate(() => globalThis.usable), bytes, requests };
  await one.reload();
  await one.waitForSelector(".rail");
  const again = { paint: await painted(one), usable: await one.evaluate(() => globalThis.usable) };
  await context.close();
  return { floor, line, first, again };
}

async function firstPaint() {
  const signedIn = await stage.visit();
  const cookies = await signedIn.context().storageState();
  await signedIn.context().close();
  const bare = await bareServer();
  const visits = [];
  for (let round = 0; round < 15; round += 1) visits.push(await visitOf(cookies, stage.url, bare.url));
  bare.close();
  const of = (choose) => median(visits.map(choose));
  const floor = of((visit) => visit.floor);
  note("first contentful paint, median of 15", of((visit) => visit.first.paint), "ms", 100);
  note("  of a bare line of HTML: this browser's floor", floor, "ms");
  note("  of a line of text from this server", of((visit) => visit.line), "ms");
  note("  more than the floor", of((visit) => visit.first.paint - visit.floor), "ms");
  note("first paint of a page that is known already", of((visit) => visit.again.paint), "ms", 100);
  note("the rail is there, first visit", of((visit) => visit.first.usable), "ms");
  note("the rail is there, page known", of((visit) => visit.again.usable), "ms");
  note("transferred for the first visit", Math.max(...visits.map((visit) => visit.first.bytes)) / 1024, "KB", 150);
  note("requests of the first visit", Math.max(...visits.map((visit) => visit.first.requests)), "");
}

/** A session with so many stored events, told by an engine. */
async function longSession() {
  const about = { session_id: CONVERSATION, parent_tool_use_id: null };
  const assistant = (id, content) => ({ emit: { type: "assistant", ...about, uuid: crypto.randomUUID(), message: { id, type: "message", role: "assistant", model: "claude-scripted", content: [content], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } } } });
  const result = (id) => ({ emit: { type: "user", ...about, uuid: crypto.randomUUID(), message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: `result of ${id}`, is_error: Number(id.slice(4)) % 9 === 0 }] } } });
  const steps = [{ turn: { text: "The long one begins." } }, { await: "user" }];
  for (let at = 0; at < EVENTS / 3; at += 1) {
    steps.push(assistant(`msg_${at}`, { type: "text", text: `Message ${at}: what was done, **why**, and what comes next.` }));
    steps.push(assistant(`msg_t${at}`, { type: "tool_use", id: `tool${at}`, name: "Bash", input: { command: `step ${at}` } }), result(`tool${at}`));
  }
  steps.push({ turn: { text: "The long one is told." } }, { await: "user" });
  const piece = (event) => ({ emit: { type: "stream_event", ...about, uuid: crypto.randomUUID(), api_message_id: "msg_last", event } });
  steps.push(piece({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }));
  for (let at = 0; at < 200; at += 1) {
    steps.push(piece({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: `word${at} ` } }), { pause: { ms: 15 } });
  }
  steps.push({ turn: { text: "The end." } });
  stage.fake(...steps);
  const id = await stage.create("begin", { engine: "fake", title: "A long session" });
  await stage.done(id);
  await stage.send(id, "go on");
  await until("everything is stored", async () => (await stage.api("GET", `/v1/sessions/${id}`)).head >= EVENTS, 600_000);
  return id;
}

/**
 * Notes when a piece of text arrives in the page, in which frame it is in the document, and when
 * that frame is painted: the first task after it.
 */
async function watchDeltas(page) {
  await page.evaluate(() => {
    const state = { arrived: [], painted: [], frames: [] };
    globalThis.deltaWatch = state;
    let frame = 0;
    const count = () => {
      frame += 1;
      requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
    const read = ReadableStreamDefaultReader.prototype.read;
    ReadableStreamDefaultReader.prototype.read = async function (...given) {
      const chunk = await read.apply(this, given);
      if (chunk.value && new TextDecoder().decode(chunk.value).includes("event: delta")) state.arrived.push({ time: performance.now(), frame });
      return chunk;
    };
    new MutationObserver((changes) => {
      if (!changes.some((change) => change.type === "characterData")) return;
      const shown = state.arrived;
      state.arrived = [];
      state.frames.push(...shown.map((one) => frame - one.frame));
      const after = new MessageChannel();
      after.port1.onmessage = () => state.painted.push(...shown.map((one) => performance.now() - one.time));
      after.port2.postMessage(null);
    }).observe(document.body, { characterData: true, subtree: true });
  });
}

async function opening(page) {
  const started = Date.now();
  await go(page, `#s/${session}`);
  await page.locator(".pill[data-state=live]").waitFor();
  await page.locator(".row").getByText("The long one is told.").first().waitFor();
  note(`opening a session of ${EVENTS} events`, Date.now() - started, "ms");
  note("elements in the document", await page.evaluate(() => document.querySelectorAll("*").length), "", 3000);
}

/** Frames while something goes on for some seconds. */
function frames(page, body) {
  return page.evaluate(
    ([text]) =>
      new Promise((resolve) => {
        const step = new Function("at", text);
        const times = [];
        let last = performance.now();
        const begin = last;
        const frame = (now) => {
          times.push(now - last);
          last = now;
          step(now - begin);
          if (now - begin < 4000) requestAnimationFrame(frame);
          else resolve(times.slice(2));
        };
        requestAnimationFrame(frame);
      }),
    [body],
  );
}

async function scrolling(page) {
  const times = await frames(page, 'const box = document.querySelector(".timeline"); box.scrollTop = box.scrollHeight * (1 - at / 4000);');
  note("scrolling through all of it, median frame", median(times), "ms", FRAME * 1.1);
  note("scrolling through all of it, p95 frame", p95(times), "ms");
  note("elements in the document after it", await page.evaluate(() => document.querySelectorAll("*").length), "", 3000);
}

async function streaming(page) {
  await page.keyboard.press("G");
  await stage.send(session, "stream");
  await page.locator(".row.writing").waitFor();
  const times = await frames(page, "");
  note("streaming at the end of it, median frame", median(times), "ms", FRAME * 1.1);
  note("streaming at the end of it, p95 frame", p95(times), "ms");
  const { painted, frames: late } = await page.evaluate(() => globalThis.deltaWatch);
  note(`a delta's arrival to its frame, p95 of ${late.length}`, p95(late), "frames", 1);
  note("a delta's arrival to the end of that frame, median", median(painted), "ms", FRAME);
  note("a delta's arrival to the end of that frame, p95", p95(painted), "ms");
}
