// What the page costs: first paint and bytes, a session of 20,000 events, and a delta's way to
// the screen. Prints what it measured and fails if a promise is broken.

import { Stage, go, until } from "./stage.mjs";

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

async function firstPaint() {
  const signedIn = await stage.visit();
  const cookies = await signedIn.context().storageState();
  const painted = (one) => one.waitForFunction(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime).then((found) => found.jsonValue());
  const paints = [];
  const bare = [];
  const sizes = [];
  for (let round = 0; round < 10; round += 1) {
    const context = await stage.browser.newContext({ storageState: cookies });
    const one = await context.newPage();
    // The browser's own process for this server is started beforehand; nothing of the page is.
    await one.goto(`${stage.url}/health`);
    await one.reload();
    bare.push(await painted(one));
    const protocol = await context.newCDPSession(one);
    let bytes = 0;
    await protocol.send("Network.enable");
    protocol.on("Network.loadingFinished", (event) => (bytes += event.encodedDataLength));
    await one.goto(stage.url);
    await one.waitForSelector(".rail");
    await one.waitForLoadState("load");
    paints.push(await painted(one));
    sizes.push(bytes / 1024);
    await context.close();
  }
  note("first contentful paint, median of 10", median(paints), "ms", 100);
  note("the same of a line of text from this server", median(bare), "ms");
  note("transferred for the first visit", Math.max(...sizes), "KB", 150);
}

/** A session with so many stored events, told by an engine. */
async function longSession() {
  const about = { session_id: "5e551017-0000-4000-8000-000000000001", parent_tool_use_id: null };
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

/** Notes when a piece of text arrives and when it is in the document. */
async function watchDeltas(page) {
  await page.evaluate(() => {
    const state = { arrived: [], delays: [] };
    globalThis.deltaWatch = state;
    const read = ReadableStreamDefaultReader.prototype.read;
    ReadableStreamDefaultReader.prototype.read = async function (...given) {
      const chunk = await read.apply(this, given);
      if (chunk.value && new TextDecoder().decode(chunk.value).includes("event: delta")) state.arrived.push(performance.now());
      return chunk;
    };
    new MutationObserver((changes) => {
      if (!changes.some((change) => change.type === "characterData")) return;
      const now = performance.now();
      for (const time of state.arrived) state.delays.push(now - time);
      state.arrived = [];
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
  const delays = await page.evaluate(() => globalThis.deltaWatch.delays);
  note(`a delta to the screen, median of ${delays.length}`, median(delays), "ms", FRAME);
  note("a delta to the screen, p95", p95(delays), "ms");
}
