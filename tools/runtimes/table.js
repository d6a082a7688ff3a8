/** @import { Judgement } from './judgement.js' */
/** @import { Project } from './project.js' */
/** @import { Runtime } from './runtimes.js' */
/** @import { SmokeTest } from './smoke-tests.js' */

/**
 * One runtime with one application.
 *
 * @typedef {object} Column
 * @property {Runtime} runtime
 * @property {Project} project
 * @property {Map<SmokeTest, Judgement>} results
 */

const signs = { tick: '✓', limit: '–', cross: '✗' }

/**
 * Smoke tests × runtimes, and below it what the dashes and crosses mean.
 *
 * @param {readonly Column[]} columns
 * @param {readonly SmokeTest[]} tests
 */
export function table(columns, tests) {
  const heads = columns.map(({ runtime, project: { versions } }) => [
    runtime.name.split(' ')[0] ?? '',
    runtime.version,
    `pino ${versions.pino}`,
    `winston ${versions.winston}`,
  ])
  const width = Math.max(...heads.flat().map(({ length }) => length)) + 2
  const nameWidth = Math.max(...tests.map(({ name }) => name.length)) + 2
  const line = (/** @type {string} */ name, /** @type {readonly string[]} */ cells) =>
    `${name.padEnd(nameWidth)}${cells.map((cell) => cell.padEnd(width)).join('')}`.trimEnd()
  const head = [0, 1, 2, 3].map((row) =>
    line(
      '',
      heads.map((lines) => lines[row] ?? ''),
    ),
  )
  const body = tests.map((test) =>
    line(
      test.name,
      columns.map(({ results }) => signs[results.get(test)?.mark ?? 'cross']),
    ),
  )
  return `${[...head, ...body, '', ...notes(columns)].join('\n')}\n`
}

/** @param {readonly Column[]} columns */
function notes(columns) {
  const results = columns.flatMap(({ runtime, results }) =>
    [...results].map(([test, judgement]) => ({ where: `${runtime.name}, ${test.name}`, judgement })),
  )
  const limits = new Set(results.flatMap(({ judgement }) => (judgement.mark === 'limit' ? [judgement.limit] : [])))
  return [
    ...[...limits].map(({ runtime, reason, wayRound }) => `– ${runtime}: ${reason}\n  the way round: ${wayRound}`),
    ...results.flatMap(({ where, judgement }) =>
      judgement.mark === 'cross' ? [`✗ ${where}`, ...judgement.differences.map((text) => `    ${text}`)] : [],
    ),
  ]
}
