// Drives an engine with the official TypeScript SDK: one case per run, one JSON line per fact.
//
//   node typescript.mjs CASE ENGINE     (FALCONER_TS_SDK names the directory of the package)

import { join } from "node:path";

const sdk = await import(join(process.env.FALCONER_TS_SDK, "sdk.mjs"));
const [, , name, engine] = process.argv;

const tell = (fact, value) => process.stdout.write(JSON.stringify({ fact, value }) + "\n");

const base = {
  pathToClaudeCodeExecutable: engine,
  env: { ...process.env },
  cwd: process.cwd(),
};

const kind = (message) => (message.subtype ? `${message.type}/${message.subtype}` : message.type);

/** Runs a query and tells what every message was; returns the results. */
async function run(prompt, options = {}, each = async () => {}) {
  const query = sdk.query({ prompt, options: { ...base, ...options } });
  const results = [];
  for await (const message of query) {
    if (message.type !== "stream_event") tell("message", kind(message));
    await each(message, query);
    if (message.type === "result") {
      results.push(message);
      tell("result", {
        subtype: message.subtype,
        is_error: message.is_error,
        result: message.is_error ? undefined : message.result,
        num_turns: message.num_turns,
        structured_output: message.structured_output,
        denials: message.permission_denials?.length,
      });
    }
  }
  return results;
}

const user = (text, more = {}) => ({
  type: "user",
  message: { role: "user", content: text },
  parent_tool_use_id: null,
  session_id: "",
  ...more,
});

const ask = { permissionMode: "default" };

const cases = {
  async one_shot() {
    await run("hi");
  },

  async streaming_input() {
    let next;
    const turn = () => new Promise((resolve) => (next = resolve));
    async function* prompts() {
      const first = turn();
      yield user("first");
      await first;
      const second = turn();
      yield user("second");
      await second;
    }
    await run(prompts(), {}, async (message) => {
      if (message.type === "result") next();
    });
  },

  async partial_messages() {
    const events = [];
    await run("hi", { includePartialMessages: true }, async (message) => {
      if (message.type === "stream_event") events.push(message.event.type);
    });
    tell("events", events);
  },

  async permissions() {
    await run("go", {
      ...ask,
      canUseTool: async (tool, input, { suggestions }) => {
        tell("asked", { tool, input, suggestions: suggestions?.length > 0 });
        return input.command.includes("denied")
          ? { behavior: "deny", message: "not that" }
          : { behavior: "allow", updatedInput: { ...input, command: input.command + " # edited" } };
      },
    });
  },

  async questions() {
    await run("ask", {
      ...ask,
      canUseTool: async (tool, input) => {
        tell("asked", { tool, questions: input.questions });
        return { behavior: "allow", updatedInput: { ...input, answers: { "Which color?": "Blue" } } };
      },
    });
  },

  async hooks() {
    const hook = (output) => ({
      matcher: "Bash",
      hooks: [
        async (input, id) => {
          tell("hook", { event: input.hook_event_name, tool: input.tool_name, id });
          return output;
        },
      ],
    });
    await run("go", {
      ...ask,
      hooks: {
        PreToolUse: [hook({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow" } })],
        PostToolUse: [hook({})],
        Stop: [{ hooks: [async (input) => (tell("hook", { event: input.hook_event_name }), {})] }],
      },
    });
  },

  async tools() {
    const { z } = await import(join(process.env.FALCONER_TS_SDK, "../../zod/index.js"));
    const add = sdk.tool("add", "Adds.", { a: z.number(), b: z.number() }, async ({ a, b }) => {
      tell("called", { a, b });
      return { content: [{ type: "text", text: String(a + b) }] };
    });
    const server = sdk.createSdkMcpServer({ name: "calc", version: "1.0.0", tools: [add] });
    await run("add", { ...ask, mcpServers: { calc: server }, allowedTools: ["mcp__calc__add"] });
  },

  async structured_output() {
    const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    await run("go", { outputFormat: { type: "json_schema", schema } });
  },

  async interrupt() {
    let done;
    const end = new Promise((resolve) => (done = resolve));
    async function* prompts() {
      yield user("go");
      await end;
    }
    let stopped = false;
    const running = run(prompts(), { includePartialMessages: true }, async (message, query) => {
      if (message.type === "stream_event" && message.event.type === "content_block_delta" && !stopped) {
        stopped = true;
        await query.interrupt();
        tell("interrupted", true);
      }
      if (message.type === "result") done();
    });
    await running.catch((error) => tell("thrown", error.constructor.name));
  },

  async resume() {
    const [first] = await run("first");
    const [second] = await run("second", { resume: first.session_id });
    tell("same session", first.session_id === second.session_id);
  },

  async fork() {
    const [first] = await run("first");
    const [second] = await run("second", { resume: first.session_id, forkSession: true });
    tell("same session", first.session_id === second.session_id);
  },

  async session_functions() {
    const [first] = await run("remember the milk");
    const place = { dir: process.cwd() };
    const listed = await sdk.listSessions(place);
    tell("listed", listed.map((session) => session.sessionId === first.session_id));
    tell("first prompt", listed[0]?.firstPrompt);
    const messages = await sdk.getSessionMessages(first.session_id, place);
    tell("messages", messages.map((message) => message.type));
    await sdk.renameSession(first.session_id, "Milk", place);
    const info = await sdk.getSessionInfo(first.session_id, place);
    tell("title", info?.customTitle ?? info?.summary);
    const fork = await sdk.forkSession(first.session_id, place);
    const [second] = await run("second", { resume: fork.sessionId });
    tell("the fork goes on", second.session_id === fork.sessionId);
    await sdk.deleteSession(first.session_id, place);
    tell("left", (await sdk.listSessions(place)).length);
  },

  async checkpoints() {
    const id = "11111111-1111-4111-8111-111111111111";
    let done;
    const end = new Promise((resolve) => (done = resolve));
    async function* prompts() {
      yield user("write", { uuid: id });
      await end;
    }
    const options = { permissionMode: "acceptEdits", enableFileCheckpointing: true };
    await run(prompts(), options, async (message, query) => {
      if (message.type !== "result") return;
      const dry = await query.rewindFiles(id, { dryRun: true });
      tell("dry", { can: dry.canRewind, files: dry.filesChanged?.length, insertions: dry.insertions });
      const real = await query.rewindFiles(id);
      tell("real", real.canRewind);
      done();
    });
  },

  async controls() {
    let done;
    const end = new Promise((resolve) => (done = resolve));
    async function* prompts() {
      yield user("hi");
      await end;
    }
    await run(prompts(), {}, async (message, query) => {
      if (message.type !== "result") return;
      await query.setPermissionMode("acceptEdits");
      await query.setModel("sonnet");
      tell("commands", Array.isArray(await query.supportedCommands()));
      tell("models", (await query.supportedModels()).length > 0);
      tell("servers", await query.mcpServerStatus());
      tell("account", typeof (await query.accountInfo()));
      done();
    });
  },

  async failure() {
    try {
      await run("hi");
    } catch (error) {
      tell("thrown", error.constructor.name);
    }
  },
};

await cases[name]();
