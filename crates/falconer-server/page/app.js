// The page: sign in, listen, and show what the address says.

import { listenToKeys } from "./keys.js";
import { api, ApiError } from "./net/api.js";
import { followEverything } from "./net/everything.js";
import { followSession } from "./net/session.js";
import { announceRequest, announceSession, answerOtherTabs, updateTitle } from "./notify.js";
import { App } from "./state/app.js";
import { codeIn, parseRoute, sessionHash } from "./state/route.js";
import { waited } from "./state/text.js";
import { approvalsView } from "./view/approvals.js";
import { announce, fill, find, h } from "./view/dom.js";
import { showHelp } from "./view/help.js";
import { homeView } from "./view/home.js";
import { loginView } from "./view/login.js";
import { newSessionView } from "./view/new_session.js";
import { Rail } from "./view/rail.js";
import { rulesView } from "./view/rules.js";
import { SessionScreen } from "./view/session.js";
import { applyTheme } from "./view/theme.js";

/** @import {FalconerEvent} from "./types.js" */

applyTheme();
start();
// A link that is opened in a tab that is here already changes only what follows the #.
addEventListener("hashchange", () => {
  if (codeIn(location.hash) !== null) location.reload();
});

async function start() {
  const code = codeIn(location.hash);
  let problem = "";
  if (code !== null) {
    // Gone from the address bar and the history before anything else happens.
    history.replaceState(null, "", location.pathname);
    problem = await signIn(code);
  }
  const app = new App();
  try {
    app.me = await api.me();
  } catch (error) {
    const isRefused = error instanceof ApiError && (error.status === 401 || error.status === 403);
    fill(find("#page"), loginView(isRefused ? problem : "The server could not be reached. Reload to try again."));
    return;
  }
  run(app);
}

/**
 * @param {string} code
 * @returns {Promise<string>} What went wrong, if anything.
 */
async function signIn(code) {
  try {
    await api.login(code);
    return "";
  } catch (error) {
    return error instanceof Error ? `This link did not work: ${error.message}` : "This link did not work.";
  }
}

/** @param {App} app */
function run(app) {
  const rail = new Rail(app, showHelp);
  const screen = new SessionScreen(app);
  const views = { home: homeView(app), approvals: approvalsView(app), rules: rulesView(app), new: newSessionView(app) };
  const main = h("main", { id: "main", tabIndex: -1 });
  fill(find("#page"), rail.element, main);

  const signedOut = () => fill(find("#page"), loginView("You were signed out."));
  /** @type {import("./net/stream.js").Following | null} */
  let stream = null;

  const go = () => {
    if (codeIn(location.hash) !== null) return;
    const route = parseRoute(location.hash);
    app.route = route;
    document.body.dataset["view"] = route.view;
    if (route.view === "session") {
      screen.wanted = route.seq;
      if (app.session !== route.session || !stream) {
        stream?.close();
        stream = followSession(app, route.session, {
          onMissing: () => (screen.missing.hidden = false),
          onSignedOut: signedOut,
          onEvent: (event) => speak(event),
        });
        screen.reset();
      }
      fill(main, screen.element);
      app.touch("view");
    } else {
      stream?.close();
      stream = null;
      app.session = null;
      document.body.classList.remove("bypass");
      views[route.view].reset();
      fill(main, views[route.view].element);
    }
    app.touch("route");
    app.touch("sessions");
  };

  app.listen((topics) => {
    if (topics.has("connection")) rail.connected();
    if (topics.has("sessions") || topics.has("requests") || topics.has("route")) rail.update();
    if (app.route.view === "session") screen.update(topics);
    else views[app.route.view].update();
    // Text that comes changes nothing but its row.
    if (topics.size === 1 && topics.has("delta")) return;
    if (app.route.view === "session") markSeen(app);
    updateTitle(app);
  });

  followEverything(app, {
    onRequest: (request) => {
      updateTitle(app);
      announceRequest(app, request);
    },
    onSession: (session, before) => announceSession(app, session, before),
    onSignedOut: signedOut,
  });
  answerOtherTabs(app);
  setInterval(tick, 1000);
  find(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  addEventListener("hashchange", go);
  restWhenHidden(app, () => stream);
  listenToKeys(commandsOf(app, rail, screen));
  go();
}

/** How long a tab may be hidden before it hangs up. */
const HIDDEN_MS = 20_000;

/**
 * A browser opens six connections to a server, over all its tabs. A tab nobody sees does without
 * the log of its session, and reads on when it is shown.
 * @param {App} app
 * @param {() => import("./net/stream.js").Following | null} stream
 */
function restWhenHidden(app, stream) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let isResting = false;
  document.addEventListener("visibilitychange", () => {
    app.touch("sessions");
    clearTimeout(timer);
    if (document.hidden) {
      timer = setTimeout(() => {
        isResting = true;
        stream()?.rest();
      }, HIDDEN_MS);
    } else if (isResting) {
      isResting = false;
      stream()?.again();
    }
  });
}

/** @param {App} app */
function markSeen(app) {
  const session = app.current();
  if (session && !document.hidden) app.seen.mark(session.id, Math.max(session.head, app.view.seq));
}

/** Times that grow while one looks. */
function tick() {
  for (const element of document.querySelectorAll("[data-since]")) {
    element.textContent = waited(element.getAttribute("data-since") ?? "");
  }
}

/** What a screen reader says; not every row, only what changes what one can do. @param {FalconerEvent} event */
function speak(event) {
  if (Date.now() - Date.parse(event.time) > 10_000) return;
  if (event.type === "permission.requested") announce(`${event.data.tool} asks for permission. Press p to review.`);
  if (event.type === "question.requested") announce("The agent has a question. Press p to answer.");
  if (event.type === "turn.completed") announce(event.data.ok ? "The agent is done." : "The turn failed.");
}

/**
 * @param {App} app
 * @param {Rail} rail
 * @param {SessionScreen} screen
 * @returns {import("./keys.js").Commands}
 */
function commandsOf(app, rail, screen) {
  return {
    help: showHelp,
    session: (step) => {
      const listed = rail.listed();
      const at = listed.findIndex(({ session }) => session.id === app.session);
      const next = listed[(at + step + listed.length) % listed.length];
      if (next) location.hash = sessionHash(next.session.id);
    },
    pending: () => nextPending(app),
    write: () => screen.dock.composer.text.focus(),
    search: () => (app.route.view === "session" ? screen.search.open() : rail.filter.focus()),
    stop: () => screen.dock.composer.interrupt(),
    row: (step) => screen.timeline.move(step),
    open: () => screen.timeline.toggleFocused(),
    raw: () => screen.raw(),
    link: () => screen.link(),
    curl: () => screen.curl(),
    newest: () => screen.timeline.follow(),
  };
}

/** Puts the focus on the next card; of this session first. @param {App} app */
function nextPending(app) {
  const cards = [...document.querySelectorAll(".card:not(.settled)")].filter((card) => card instanceof HTMLElement);
  const at = cards.findIndex((card) => card.contains(document.activeElement));
  const next = cards[(at + 1) % Math.max(1, cards.length)];
  if (next) {
    const field = next.classList.contains("question") ? next.querySelector("input") : null;
    return (field ?? next).focus();
  }
  const waiting = app.pending()[0];
  if (waiting) location.hash = sessionHash(waiting.session);
}
