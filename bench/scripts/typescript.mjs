// The official TypeScript SDK through its normal public API; prints the line
// that `bench/probe` describes.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const folder = process.env.FALCONER_TS_SDK;
const { query, createSdkMcpServer, tool } = await import(pathToFileURL(`${folder}/sdk.mjs`));
const { z } = await import(pathToFileURL(createRequire(`${folder}/package.json`).resolve('zod')));
const scenario = process.argv[2];
const report = { received: 0, assistants: 0, results: 0, errors: 0, calls: 0, ms: 0, note: '' };

function kilobytes(key) {
  const line = readFileSync('/proc/self/status', 'utf8').split('\n').find((text) => text.startsWith(key));
  return Number(line.match(/\d+/)[0]);
}

function print() {
  const usage = process.cpuUsage();
  report.cpu_ms = Math.round((usage.user + usage.system) / 1000);
  report.rss_kb = kilobytes('VmHWM');
  report.note = String(report.note).slice(0, 120);
  console.log(JSON.stringify(report));
}

function options() {
  const base = {
    pathToClaudeCodeExecutable: process.env.BENCH_CLI,
    includePartialMessages: true,
    settingSources: [],
  };
  if (scenario === 'perm' || scenario === 'slow') {
    base.canUseTool = async (_name, input) => {
      report.calls += 1;
      return { behavior: 'allow', updatedInput: input };
    };
  }
  if (scenario === 'hook') {
    const hook = async () => {
      report.calls += 1;
      return {};
    };
    base.hooks = { PreToolUse: [{ hooks: [hook] }] };
  }
  if (scenario === 'mcp') {
    const echo = tool('echo', 'echoes', { text: z.string() }, async ({ text }) => {
      report.calls += 1;
      return { content: [{ type: 'text', text }] };
    });
    base.mcpServers = { bench: createSdkMcpServer({ name: 'bench', version: '1.0.0', tools: [echo] }) };
  }
  return base;
}

// Callbacks need a prompt that stays open until the result.
function start() {
  let close;
  const done = new Promise((resolve) => (close = resolve));
  async function* prompt() {
    yield { type: 'user', message: { role: 'user', content: 'go' }, parent_tool_use_id: null, session_id: '' };
    await done;
  }
  const needsInput = ['perm', 'hook', 'mcp', 'slow', 'drop', 'odd'].includes(scenario);
  return { stream: query({ prompt: needsInput ? prompt() : 'go', options: options() }), close };
}

function count(message) {
  report.received += 1;
  report.assistants += message.type === 'assistant' ? 1 : 0;
  report.results += message.type === 'result' ? 1 : 0;
}

async function read() {
  const began = performance.now();
  const { stream, close } = start();
  try {
    for await (const message of stream) {
      count(message);
      if (message.type === 'result') break;
    }
  } catch (error) {
    report.errors += 1;
    report.note = error.message;
  }
  report.ms = performance.now() - began;
  close();
}

async function hello() {
  const times = [];
  for (let index = 0; index < 30; index += 1) {
    await read();
    times.push(report.ms);
  }
  times.sort((left, right) => left - right);
  report.ms = times[15];
}

async function slow() {
  const { stream, close } = start();
  const iterator = stream[Symbol.asyncIterator]();
  count((await iterator.next()).value);
  report.nap_before_kb = kilobytes('VmRSS');
  await sleep(3000);
  report.nap_after_kb = kilobytes('VmRSS');
  while (report.results === 0) {
    const { value, done } = await iterator.next();
    if (done) break;
    count(value);
  }
  close();
}

async function dropIt() {
  const { stream } = start();
  const iterator = stream[Symbol.asyncIterator]();
  await iterator.next();
  const began = performance.now();
  // There is no drop in JavaScript; leaving a `for await` loop does this.
  const left = iterator.return();
  console.log(`dropped after ${Math.round(performance.now() - began)} ms`);
  await Promise.race([left, sleep(2500)]);
  await sleep(2500);
}

if (scenario === 'drop') {
  await dropIt();
} else {
  if (scenario === 'hello') await hello();
  else if (scenario === 'slow') await slow();
  else await read();
  print();
}
process.exit(0);
