// What a session has used: tokens, money, and how full the context is.

/** @import {Tokens} from "../types.js" */

/**
 * @typedef {object} Meter
 * @property {Tokens} tokens
 * @property {number} earlierCost Of the runs that are over.
 * @property {number} runCost Of the run under way.
 * @property {number | null} context About how many tokens the model read last.
 * @property {number | null} window How many it can read.
 * @property {Record<string, any>} models What each model used in this run, as the engine says it.
 */

/** @returns {Meter} */
export function meterOf() {
  return {
    tokens: { input: 0, output: 0, cache_read: 0, cache_write: 0 },
    earlierCost: 0,
    runCost: 0,
    context: null,
    window: null,
    models: {},
  };
}

/**
 * Adds a turn and says what it cost.
 * @param {Meter} meter
 * @param {any} turn
 * @returns {number}
 */
export function addTokens(meter, turn) {
  const tokens = turn.tokens ?? {};
  for (const name of /** @type {const} */ (["input", "output", "cache_read", "cache_write"])) {
    meter.tokens[name] += tokens[name] ?? 0;
  }
  const read = (tokens.input ?? 0) + (tokens.cache_read ?? 0) + (tokens.cache_write ?? 0);
  // The engine counts all calls of a turn together; their mean is the best guess there is.
  const calls = Math.max(1, turn.model_turns ?? 1);
  if (read > 0) meter.context = Math.round((read + (tokens.output ?? 0)) / calls);
  meter.window = windowOf(turn.models) ?? meter.window;
  if (turn.models) meter.models = turn.models;
  const cost = Math.max(0, (turn.total_cost_usd ?? 0) - meter.runCost);
  meter.runCost = Math.max(meter.runCost, turn.total_cost_usd ?? 0);
  return cost;
}

/**
 * @param {Record<string, any> | undefined} models
 * @returns {number | null}
 */
function windowOf(models) {
  const sizes = Object.values(models ?? {}).map((model) => Number(model?.contextWindow));
  const known = sizes.filter((size) => size > 0);
  return known.length > 0 ? Math.max(...known) : null;
}

/** @param {Meter} meter */
export function costOf(meter) {
  return meter.earlierCost + meter.runCost;
}

/** @param {Meter} meter */
export function tokensOf(meter) {
  const { input, output, cache_read, cache_write } = meter.tokens;
  return input + output + cache_read + cache_write;
}
