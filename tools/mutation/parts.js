import { readdirSync } from 'node:fs'

// The files that are mutated, and the tests that have to notice. Paths are relative to the root of the repository.

/**
 * @typedef {object} Part
 * @property {readonly string[]} files The files that are mutated.
 * @property {readonly string[]} tests The tests that run for each mutant.
 * @property {readonly string[]} [slowTests] They take seconds, and run only for the mutants that the others do not notice.
 */

const root = new URL('../../', import.meta.url)

/** @param {string} folder @param {{ end: string, without?: readonly string[] }} options */
function filesIn(folder, { end, without = [] }) {
  return readdirSync(new URL(folder, root))
    .filter((name) => name.endsWith(end) && !without.includes(name.slice(0, -end.length)))
    .map((name) => `${folder}/${name}`)
}

/** @param {string} folder @param {readonly string[]} [without] */
const sourcesIn = (folder, without = []) => filesIn(`src/${folder}`, { end: '.ts', without })

/** The tests of a folder that start no programs. @param {string} folder @param {readonly string[]} [without] */
const testsIn = (folder, without = []) =>
  filesIn(`test/${folder}`, { end: '.test.ts', without }).filter((file) => !/\.(full|program)\.test\.ts$/.test(file))

/** They simulate minutes of traffic. */
const slowDelivery = ['idle-connections', 'machine']
const parsers = ['answer-body', 'answer-head', 'answer-pattern', 'chunked-body', 'classify', 'connection-life', 'proxy']
const exchange = ['read-answer', 'request-writer', 'response-reader', 'transmission']

/** @type {Readonly<Record<string, Part>>} */
export const parts = {
  // Without the herd of a thousand engines: the tests of a breaker say the same.
  delivery: {
    files: sourcesIn('delivery', ['concurrency']),
    tests: testsIn('delivery', ['herd', 'concurrency', ...slowDelivery]),
    slowTests: [...slowDelivery.map((name) => `test/delivery/${name}.test.ts`), 'test/simulation/poison-rate.test.ts'],
  },
  concurrency: { files: ['src/delivery/concurrency.ts'], tests: ['test/delivery/concurrency.test.ts'] },
  // What the logs do for a lane, the tests of delivery notice.
  log: {
    files: sourcesIn('log'),
    tests: testsIn('log'),
    slowTests: testsIn('delivery', ['herd', 'concurrency', 'idle-connections', 'machine']),
  },
  // The link to a real worker, and the program of that worker, are tested with programs only.
  'hand-off': { files: sourcesIn('hand-off', ['worker-link', 'delivery-worker']), tests: testsIn('hand-off') },
  http: {
    files: [...parsers, ...exchange].map((name) => `src/http/${name}.ts`),
    tests: testsIn('http', [
      'auto-sender',
      'closing-server',
      'describe-error',
      'pipelined-sender',
      'sender',
      'socket-bound',
    ]),
    slowTests: ['test/http/pipelined-sender.test.ts', 'test/http/sender.test.ts'],
  },
  spool: {
    files: sourcesIn('spool'),
    tests: testsIn('spool'),
    slowTests: ['test/spool/lives.test.ts'],
  },
}
