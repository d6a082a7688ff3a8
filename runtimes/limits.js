/** @import { Outcome } from './smoke-tests.js' */

/**
 * What cannot work somewhere. It is run all the same: when something else comes of it, the limit has changed, and the README with it.
 *
 * @typedef {object} Limit
 * @property {string} runtime
 * @property {RegExp} tests their names
 * @property {string} reason
 * @property {string} wayRound
 * @property {Partial<Outcome>} outcome what is different from what must be seen elsewhere
 */

/** @type {readonly Limit[]} */
export const limits = [
  {
    runtime: 'Deno',
    tests: /: exception$/,
    reason: 'after an uncaught exception Deno emits no event `exit`: nobody can deliver what is pending',
    wayRound: "a listener that ends the process: process.on('uncaughtException', (error) => { …; process.exit(1) })",
    outcome: { logs: 'none', values: 'none' },
  },
]
