// Reloads in the middle of everything, and a server that dies: what one sees is what is stored.

import assert from "node:assert/strict";
import test from "node:test";

import { entriesOf } from "../../page/state/fold.js";
import { apply, emptyView } from "../../page/state/reducer.js";
import { Stage, go, rowsOf, until } from "./stage.mjs";

/**
 * How often a page has to begin again while a text is written. Every fifth is the whole page, loaded
 * again; the others, which cost less, are a session that is left and opened again, which begins
 * with an empty view, and a stream that is cut, which goes on where it was. In `cargo xtask soak`
 * all of them are the whole page.
 */
const INTERRUPTIONS = Number(process.env.FALCONER_PAGE_RELOADS ?? 1000);
const WHOLE_EVERY = process.env.FALCONER_SOAK ? 1 : 5;
const AT_ONCE = 4;

const stage = await Stage.open();

/** What the stored log says must be on the screen. */
async function expected(session) {
  const view = emptyView();
  for (const event of await stage.events(session)) apply(view, event);
  return entriesOf(view, (_, standard) => standard).map((entry) => `${entry.row?.kind ?? "group"} ${entry.key}`);
}

/** The rows of a page, when it has caught up. */
async function seen(page, session) {
  const wanted = await expected(session);
  return until("the page shows what is stored", async () => {
    const rows = (await rowsOf(page)).map((row) => row.split(" ").slice(0, 2).join(" "));
    return rows.length === wanted.length && rows.every((row, at) => row === wanted[at]) ? rows : null;
  });
}

/** Loads the page again, also while it is still being loaded. */
async function reload(page) {
  await until("it is loaded again", () => page.reload({ waitUntil: "commit" }).then(() => true, () => false));
  await page.waitForSelector(".rail");
}

async function interrupt(page, session, chance) {
  if (chance < 0.5) await go(page, "#");
  else await page.evaluate(() => dispatchEvent(new Event("online")));
  await go(page, `#s/${session}`);
}

test(`${INTERRUPTIONS} reloads and cuts at random in the middle of a stream change nothing`, { timeout: 3_000_000 }, async () => {
  const pages = await Promise.all(Array.from({ length: AT_ONCE }, () => stage.visit("", { viewport: { width: 900, height: 4000 } })));
  let left = INTERRUPTIONS;
  let whole = 0;
  let random = 12345;
  const next = () => (random = (random * 1103515245 + 12345) % 2147483648) / 2147483648;
  const texts = new Set();
  const work = async (page) => {
    while (left > 0) {
      const session = await stage.create("write slowly");
      await go(page, `#s/${session}`);
      let isDone = false;
      const done = stage.done(session).then(() => (isDone = true));
      while (!isDone && left > 0) {
        left -= 1;
        const isWhole = left % WHOLE_EVERY === 0;
        if (isWhole) whole += 1;
        await (isWhole ? reload(page) : interrupt(page, session, next()).catch(() => reload(page)));
        await page.waitForTimeout(next() * 60);
      }
      await done;
      await seen(page, session);
      await page.locator(".message li").first().waitFor();
      texts.add(await page.locator(".message").first().textContent());
      assert.equal(await page.locator(".row.writing").count(), 0);
      assert.deepEqual(page.complaints.filter((text) => !/fetch|abort|network/i.test(text)), []);
    }
  };
  await Promise.all(pages.map(work));
  assert.equal(texts.size, 1, "every page showed the same text");
  assert.equal(whole, Math.ceil(INTERRUPTIONS / WHOLE_EVERY));
  await Promise.all(pages.map((page) => page.context().close()));
});

test("a page without a network says so, and goes on when there is one", async () => {
  const page = await stage.visit();
  const session = await stage.create("hello");
  await stage.done(session);
  await go(page, `#s/${session}`);
  await seen(page, session);
  await page.context().setOffline(true);
  await page.locator(".pill[data-state=offline]").waitFor();
  await stage.send(session, "hello again");
  await stage.done(session, 2);
  await page.context().setOffline(false);
  await page.locator(".pill[data-state=live]").waitFor();
  await seen(page, session);
});

test("kill -9 of the server with a card open", async () => {
  const page = await stage.visit();
  const session = await stage.create("run a command");
  await go(page, `#s/${session}`);
  await page.waitForSelector(".card.permission");
  await stage.kill();
  await page.locator(".pill[data-state=reconnecting]").waitFor();
  assert.equal(await page.locator(".card.permission").count(), 1, "the card stays while nobody knows better");
  await stage.start();
  await page.locator(".pill[data-state=live]").waitFor();
  await page.locator(".decision.expired").waitFor();
  await page.locator(".card.permission:not(.settled)").waitFor({ state: "detached" });
  await page.getByText(/Interrupted/).first().waitFor();
  await page.getByText(/The run failed/).first().waitFor();
  await seen(page, session);
  await stage.send(session, "hello");
  await page.locator(".row[data-kind=message]").getByText("Said and done.").first().waitFor();
});
