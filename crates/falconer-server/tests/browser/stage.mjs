// A real server, a real browser, and what the tests do with them.

import { spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";
import { after } from "node:test";

const kit = createRequire(path.join(needed("FALCONER_BROWSER_KIT"), "package.json"));
const { chromium } = kit("playwright-core");
const axeSource = fs.readFileSync(kit.resolve("axe-core/axe.min.js"), "utf8");
export const artefacts = process.env.FALCONER_PAGE_ARTEFACTS ?? os.tmpdir();

/** A user who owns nothing. */
const NOBODY = 65_534;

/** What the scripts of the engine `fake` call their conversation. */
export const CONVERSATION = "5e551017-0000-4000-8000-000000000001";

/** A PNG of one pixel. */
export const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** No wait is longer. */
export const LIMIT = 30_000;

function needed(variable) {
  const value = process.env[variable];
  if (!value) throw new Error(`${variable} is not set; \`cargo xtask test\` installs what it names`);
  return value;
}

export class Stage {
  /** @param {{bypass?: boolean}} [wish] */
  static async open({ bypass = false } = {}) {
    const stage = new Stage();
    stage.root = fs.mkdtempSync(path.join(os.tmpdir(), "falconer-page-"));
    for (const folder of ["work", "work/shop", "home"]) fs.mkdirSync(path.join(stage.root, folder));
    for (const file of ["scenario.json", "fake.json"]) fs.copyFileSync(path.join(import.meta.dirname, file), path.join(stage.root, file));
    stage.executable = needed("FALCONER_STAGE");
    stage.variables = {};
    stage.user = {};
    if (bypass) stage.allowBypass();
    stage.port = await freePort();
    stage.contexts = [];
    await stage.start();
    stage.browser = await chromium.launch({ executablePath: needed("FALCONER_CHROMIUM"), args: ["--no-sandbox", "--disable-dev-shm-usage"] });
    if (process.env.NODE_TEST_CONTEXT) after(() => stage.close());
    return stage;
  }

  /** A server of root refuses bypass mode: this one is somebody else's. */
  allowBypass() {
    this.variables = { FALCONER_STAGE_BYPASS: "1" };
    if (process.getuid() !== 0) return;
    this.user = { uid: NOBODY, gid: NOBODY };
    // Where it was built may be closed to others.
    this.executable = path.join(this.root, "stage");
    fs.copyFileSync(needed("FALCONER_STAGE"), this.executable, fs.constants.COPYFILE_FICLONE);
    for (const entry of ["", ...fs.readdirSync(this.root, { recursive: true })]) fs.chownSync(path.join(this.root, entry), NOBODY, NOBODY);
  }

  /** What the engine `fake` does after its first prompt; by default what `fake.json` says. */
  fake(...steps) {
    const script = JSON.parse(fs.readFileSync(path.join(import.meta.dirname, "fake.json"), "utf8"));
    if (steps.length > 0) script.steps = [...script.steps.slice(0, 2), ...steps, "echo_until_eof"];
    // Two live sessions cannot be the same conversation.
    const text = JSON.stringify({ ...script, session_id: CONVERSATION }).replaceAll(CONVERSATION, crypto.randomUUID());
    fs.writeFileSync(path.join(this.root, "fake.json"), text);
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  get project() {
    return path.join(this.root, "work", "shop");
  }

  async start() {
    const variables = { ...process.env, ...this.variables, FALCONER_STAGE_ROOT: this.root, FALCONER_STAGE_PORT: String(this.port) };
    // The port may be held for a moment by the server that was killed.
    for (let attempt = 0; ; attempt += 1) {
      this.server = spawn(this.executable, ["--exact", "browser::stage::serve", "--nocapture"], { env: variables, stdio: ["ignore", "pipe", "pipe"], cwd: this.root, ...this.user });
      const said = await readyLine(this.server);
      if (said.ready) {
        [, this.token, ...this.links] = said.ready.split(" ");
        return;
      }
      if (attempt > 20) throw new Error(`the server did not start: ${said.text}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** The server says nothing any more, but its connections stay. */
  freeze() {
    this.server.kill("SIGSTOP");
  }

  thaw() {
    this.server.kill("SIGCONT");
  }

  /** As if the power had gone. */
  async kill() {
    const gone = new Promise((resolve) => this.server.once("exit", resolve));
    this.server.kill("SIGKILL");
    await gone;
  }

  async close() {
    await this.browser?.close();
    await this.kill();
    fs.rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }

  async api(method, route, body) {
    const headers = { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json" };
    const response = await fetch(`${this.url}${route}`, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${route}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  /** All events of a session, as they are stored. */
  async events(session) {
    const all = [];
    for (;;) {
      const page = await this.api("GET", `/v1/sessions/${session}/events?after=${all.length}&limit=500`);
      all.push(...page.events);
      if (!page.more) return all;
    }
  }

  async create(message, more = {}) {
    const wish = { engine: "script", cwd: this.project, ...more };
    if (message) wish.message = { client_msg_id: crypto.randomUUID(), text: message };
    return (await this.api("POST", "/v1/sessions", wish)).id;
  }

  async send(session, text) {
    return this.api("POST", `/v1/sessions/${session}/messages`, { client_msg_id: crypto.randomUUID(), text });
  }

  async state(session, ...wanted) {
    return until(`session is ${wanted}`, async () => {
      const { state } = await this.api("GET", `/v1/sessions/${session}`);
      return wanted.includes(state) ? state : null;
    });
  }

  /** Waits until so many turns are over. */
  async done(session, turns = 1) {
    return until(`${turns} turns are over`, async () => {
      const { events } = await this.api("GET", `/v1/sessions/${session}/events?after=0&limit=1000&types=turn.completed`);
      return events.length >= turns;
    });
  }

  async pending(session) {
    return until("something is asked", async () => {
      const { requests } = await this.api("GET", `/v1/requests?state=pending&session=${session}`);
      return requests.length > 0 ? requests : null;
    });
  }

  /** A browser of its own, signed in by a link that works once. */
  async visit(hash = "", options = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    context.setDefaultTimeout(LIMIT);
    const page = await context.newPage();
    page.complaints = [];
    page.on("pageerror", (error) => page.complaints.push(error.message));
    page.on("console", (message) => {
      const isNetwork = message.text().startsWith("Failed to load resource");
      if (message.type() === "error" && !isNetwork) page.complaints.push(message.text());
    });
    const link = this.links.pop();
    if (!link) throw new Error("no login link is left");
    await page.goto(link);
    await page.waitForSelector(".rail");
    if (hash) await go(page, hash);
    return page;
  }
}

/** Goes there; the page has taken notice when this is done. */
export async function go(page, hash) {
  await page.evaluate((to) => {
    const before = location.hash;
    location.hash = to;
    if (location.hash === before) return undefined;
    // Listeners are called in their order, and that of the page was there before.
    return new Promise((resolve) => addEventListener("hashchange", () => resolve(undefined), { once: true }));
  }, hash);
}

/** Waits until something is so. */
export async function until(what, test, limit = LIMIT) {
  const end = Date.now() + limit;
  for (;;) {
    const found = await test();
    if (found) return found;
    if (Date.now() > end) throw new Error(`not within ${limit} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** What axe-core finds wrong with a page. */
export async function violations(page) {
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(" ")).join(", ")} — ${one.nodes[0]?.failureSummary}`);
  });
}

/** The rows on the screen: key, kind and text, without times. */
export function rowsOf(page) {
  return page.evaluate(() =>
    [...document.querySelectorAll(".row")].map((row) => {
      const copy = row.cloneNode(true);
      for (const part of copy.querySelectorAll(".row-tools, .when, .chevron, .status")) part.remove();
      return `${row.dataset.kind} ${row.dataset.key} ${copy.textContent.trim()}`;
    }),
  );
}

function readyLine(server) {
  return new Promise((resolve) => {
    let text = "";
    const read = (chunk) => {
      text += chunk;
      const ready = text.split("\n").find((line) => line.includes("READY "));
      if (ready && text.slice(text.indexOf(ready)).includes("\n")) resolve({ ready: ready.slice(ready.indexOf("READY ")).trim() });
    };
    server.stdout.on("data", read);
    server.stderr.on("data", (chunk) => (text += chunk));
    server.once("exit", () => resolve({ text }));
  });
}

function freePort() {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
