/** @typedef {import('../test/simulation/main.js').SeedPair} SeedPair */
/** @typedef {import('../test/simulation/main.js').SeedMeasure} SeedMeasure */
/**
 * A figure of all seeds together, and the most that the next delivery may have, by that of the present one.
 *
 * @typedef {{ name: string, of: (measures: SeedMeasure[]) => number, most: (now: number) => number, bound: string }} Figure
 */

const shownSeeds = 10
const mostRatio = 1.05
const mostLaterMs = 20

/** Parts of the seeds of which one is left out, to see by how much a figure depends on the seeds. */
const parts = 20
/** A figure above its bound by less than so many standard errors may be above it by chance. */
const sureErrors = 2
const missedBound = 'MISSED'

/** @type {Figure[]} */
const figures = [
  { name: 'seeds with a violation', of: violationsOf, most: () => 0, bound: '0' },
  sumOf('requests', 'requests'),
  sumOf('requests at the service', 'taken'),
  percentileOf('storedAt p50 (ms)', 0.5),
  percentileOf('storedAt p99 (ms)', 0.99),
  { ...sumOf('records dropped', 'dropped'), most: (now) => now, bound: '≤ now' },
]

/**
 * Compares two deliveries over the same seeds. They draw their random numbers in another order, so that a seed may go well with one and
 * badly with the other by chance. A bound is missed where the figure is above it by more than chance explains.
 *
 * @param {SeedPair[]} pairs
 * @returns {{ text: string, missed: string[] }} the text with its table, and the names of the figures that missed their bound
 */
export function compare(pairs) {
  const rows = [['', 'now', 'next', 'ratio', 'bound', '']]
  const worst = []
  const missed = []
  for (const figure of figures) {
    const { name, of, bound } = figure
    const now = of(pairs.map((pair) => pair.now))
    const next = of(pairs.map((pair) => pair.next))
    const verdict = verdictOf(figure, pairs)
    rows.push([name, written(now), written(next), ratioOf(now, next), bound, verdict])
    if (verdict !== missedBound) continue
    missed.push(name)
    worst.push(`${name}: worst in\n${worstOf(figure, pairs)}`)
  }
  const stored = (/** @type {'now' | 'next'} */ name) => pairs.reduce((sum, pair) => sum + pair[name].delays.length, 0)
  rows.push([
    'records measured',
    `${stored('now')}`,
    `${stored('next')}`,
    ratioOf(stored('now'), stored('next')),
    '',
    '',
  ])
  return { text: [...tableOf(rows), ...worst].map((line) => `${line}\n`).join(''), missed }
}

/** @param {SeedMeasure[]} measures */
function violationsOf(measures) {
  return measures.filter(({ violation }) => violation !== undefined).length
}

/**
 * @param {string} name
 * @param {'requests' | 'taken' | 'dropped'} count
 * @returns {Figure}
 */
function sumOf(name, count) {
  const of = (/** @type {SeedMeasure[]} */ measures) => measures.reduce((sum, measure) => sum + measure[count], 0)
  return { name, of, most: (now) => now * mostRatio, bound: `≤ ${mostRatio} × now` }
}

/**
 * @param {string} name
 * @param {number} share
 * @returns {Figure}
 */
function percentileOf(name, share) {
  const of = (/** @type {SeedMeasure[]} */ measures) => percentile(measures, share)
  return { name, of, most: (now) => now * mostRatio + mostLaterMs, bound: `≤ ${mostRatio} × now + ${mostLaterMs} ms` }
}

/**
 * The delay that this share of all measured records does not exceed; 0 where none was stored.
 *
 * @param {SeedMeasure[]} measures
 * @param {number} share
 */
function percentile(measures, share) {
  const delays = Float64Array.from(measures.flatMap((measure) => measure.delays)).sort()
  return delays[Math.ceil(delays.length * share) - 1] ?? 0
}

/**
 * @param {Figure} figure
 * @param {SeedPair[]} pairs
 */
function verdictOf(figure, pairs) {
  const { of, most } = figure
  const now = of(pairs.map((pair) => pair.now))
  const excess = of(pairs.map((pair) => pair.next)) - most(now)
  // The present delivery may not fail, either: a seed that fails says nothing about the other figures.
  if (of === violationsOf) return excess > 0 || now > 0 ? missedBound : ''
  if (excess <= 0) return ''
  return excess > sureErrors * errorOf(figure, pairs) ? missedBound : 'above it, perhaps by chance: run more seeds'
}

/**
 * By how much chance moves the excess of a figure over its bound: the standard error by the jackknife, which leaves out one part of the
 * seeds after another.
 *
 * @param {Figure} figure
 * @param {SeedPair[]} pairs
 */
function errorOf({ of, most }, pairs) {
  const excesses = Array.from({ length: parts }, (_, part) => {
    const kept = pairs.filter((_, index) => index % parts !== part)
    return of(kept.map(({ next }) => next)) - most(of(kept.map(({ now }) => now)))
  })
  const mean = excesses.reduce((sum, excess) => sum + excess, 0) / parts
  const squares = excesses.reduce((sum, excess) => sum + (excess - mean) ** 2, 0)
  return Math.sqrt(((parts - 1) / parts) * squares)
}

/**
 * @param {Figure} figure
 * @param {SeedPair[]} pairs
 */
function worstOf({ of }, pairs) {
  return pairs
    .map(({ seed, now, next }) => {
      const [before, after] = [of([now]), of([next])]
      const says = of === violationsOf ? (next.violation ?? now.violation ?? '').split('\n')[0] : ''
      return { seed, before, after, excess: of === violationsOf ? before + after : after - before, says }
    })
    .filter(({ excess }) => excess > 0)
    .sort((a, b) => b.excess - a.excess)
    .slice(0, shownSeeds)
    .map(({ seed, before, after, says }) => {
      const delivery = after > 0 ? ' --delivery next' : ''
      const figure = says === '' ? `${written(before)} → ${written(after)}` : says
      return `  seed ${seed}: ${figure}; npm run simulate -- --show --from ${seed}${delivery}`
    })
    .join('\n')
}

/** @param {number} figure */
function written(figure) {
  return Number.isInteger(figure) ? `${figure}` : figure.toFixed(1)
}

/** @param {number} now @param {number} next */
function ratioOf(now, next) {
  return now === next ? '1' : (next / now).toFixed(4)
}

/** @param {string[][]} rows */
function tableOf(rows) {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows.map((row) => {
    const cells = row.map((cell, column) => {
      const width = widths[column] ?? 0
      return column >= 1 && column <= 3 ? cell.padStart(width) : cell.padEnd(width)
    })
    return cells.join('  ').trimEnd()
  })
}
