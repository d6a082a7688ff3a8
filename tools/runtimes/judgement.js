import { limits } from './limits.js'

/** @import { Limit } from './limits.js' */
/** @import { Runtime } from './runtimes.js' */
/** @import { Outcome, SmokeTest } from './smoke-tests.js' */

/**
 * `tick`: as it must be. `limit`: as the limits say that it is here. `cross`: otherwise.
 *
 * @typedef {{ mark: 'tick' } | { mark: 'limit', limit: Limit } | { mark: 'cross', differences: string[] }} Judgement
 */

/**
 * @param {SmokeTest} test
 * @param {{ runtime: Runtime, seen: Outcome & { late: boolean } }} run
 * @returns {Judgement}
 */
export function judge(test, { runtime, seen }) {
  const limit = limits.find(({ runtime: name, tests }) => name === runtime.name && tests.test(test.name))
  const ideal = typeof test.outcome === 'function' ? test.outcome(runtime) : test.outcome
  const differences = differencesOf({ ...ideal, ...limit?.outcome }, seen)
  if (seen.late) differences.push('ended late')
  if (differences.length > 0) return { mark: 'cross', differences }
  return limit === undefined ? { mark: 'tick' } : { mark: 'limit', limit }
}

/**
 * @param {Outcome} expected
 * @param {Outcome} seen
 */
function differencesOf(expected, seen) {
  const keys = /** @type {const} */ (['logs', 'values', 'status', 'stdout', 'stderr'])
  return keys
    .filter((key) => !agrees(expected[key], seen[key]))
    .map((key) => `${key}: ${JSON.stringify(seen[key])} instead of ${shown(expected[key])}`)
}

/**
 * @param {Outcome[keyof Outcome]} expected
 * @param {Outcome[keyof Outcome]} seen
 */
function agrees(expected, seen) {
  return expected instanceof RegExp ? expected.test(String(seen)) : expected === seen
}

/** @param {Outcome[keyof Outcome]} expected */
function shown(expected) {
  return expected instanceof RegExp ? String(expected) : JSON.stringify(expected)
}
