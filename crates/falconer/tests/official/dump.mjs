// Starts the stub through the official TypeScript SDK, once for each case on stdin.
//
// argv[2] is the directory of the SDK package. A case is
// {name, stub, options, with: ["canUseTool" | "hook" | "sdkServer" | ...]}.
// Prints {name: error text or null} as JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const { query, createSdkMcpServer, tool, InMemorySessionStore } = await import(
  pathToFileURL(join(process.argv[2], "sdk.mjs")).href
);

const additions = {
  canUseTool: (options) => {
    options.canUseTool = async (_name, input) => ({ behavior: "allow", updatedInput: input });
  },
  hook: (options) => {
    options.hooks = {
      PreToolUse: [{ matcher: "Bash", timeout: 7, onFailure: "block", hooks: [async () => ({})] }],
      Stop: [{ hooks: [async () => ({})] }],
    };
  },
  sdkServer: (options) => {
    options.mcpServers = {
      ...options.mcpServers,
      calc: createSdkMcpServer({ name: "calc", version: "1.0.0", tools: [] }),
    };
  },
  dialogs: (options) => {
    options.onUserDialog = async () => ({ behavior: "cancelled" });
    options.supportedDialogKinds = ["refusal_fallback_prompt"];
  },
  store: (options) => {
    options.sessionStore = new InMemorySessionStore();
  },
};

async function run(testCase) {
  const options = { ...testCase.options, pathToClaudeCodeExecutable: testCase.stub };
  for (const addition of testCase.with ?? []) additions[addition](options);
  try {
    for await (const message of query({ prompt: "hello", options })) {
      if (message.type === "result") break;
    }
    return null;
  } catch (error) {
    return String(error?.message ?? error);
  }
}

const cases = JSON.parse(readFileSync(0, "utf8"));
const outcomes = {};
const queue = [...cases];
const worker = async () => {
  for (let next = queue.shift(); next; next = queue.shift()) outcomes[next.name] = await run(next);
};
await Promise.all(Array.from({ length: 6 }, worker));
console.log(JSON.stringify(outcomes));
process.exit(0);
