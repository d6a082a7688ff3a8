import { readFileSync } from 'node:fs'

/** CPU of this thread in ns, where Linux tells it: on a machine with few cores wall time counts what other threads do. */
function threadTime() {
  try {
    return BigInt(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0] ?? '')
  } catch {
    return process.hrtime.bigint()
  }
}

/**
 * Nanoseconds of this thread per call: contestants in turn, several rounds, the median of each. The ratio is the median of the
 * rounds' own ratios, each of two measurements that follow one another, for the speed of a shared machine drifts.
 *
 * @param {Record<string, (calls: number) => void>} contestants each makes that many calls; the first is the baseline
 * @param {{ calls?: number, rounds?: number, clock?: () => bigint, between?: () => Promise<void> }} [setting]
 *   `clock`: a thread's own time advances in ticks of some milliseconds; where a round is not much longer, take the wall clock
 */
export async function comparePerCall(
  contestants,
  { calls = 100_000, rounds = 9, clock = threadTime, between = async () => {} } = {},
) {
  /** @type {Record<string, { nanoseconds: number, ratio: number }[]>} */
  const results = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]))
  for (let round = -2; round < rounds; round++) {
    let baseline = Number.NaN
    for (const [name, run] of Object.entries(contestants)) {
      const startedAt = clock()
      run(calls)
      const nanoseconds = Number(clock() - startedAt) / calls
      if (Number.isNaN(baseline)) baseline = nanoseconds
      if (round >= 0) results[name]?.push({ nanoseconds, ratio: nanoseconds / baseline })
      await between()
    }
  }
  return Object.fromEntries(
    Object.entries(results).map(([name, all]) => [
      name,
      { nanoseconds: median(all.map((one) => one.nanoseconds)), ratio: median(all.map((one) => one.ratio)) },
    ]),
  )
}

/** @param {number[]} figures */
export function median(figures) {
  return quantile(figures, 0.5)
}

/** @param {number[]} figures @param {number} part of them that is smaller, from 0 to 1 */
export function quantile(figures, part) {
  return [...figures].sort((a, b) => a - b)[Math.floor(figures.length * part)] ?? Number.NaN
}

/**
 * @param {Record<string, { nanoseconds: number, ratio: number }>} medians
 * @param {string} budget
 */
export function printPerCall(medians, budget) {
  process.stdout.write(`  ${''.padEnd(44)}${'ns/call'.padStart(10)}${'ratio'.padStart(8)}   (budget ${budget})\n`)
  for (const [name, { nanoseconds, ratio }] of Object.entries(medians)) {
    process.stdout.write(`  ${name.padEnd(44)}${nanoseconds.toFixed(0).padStart(10)}${ratio.toFixed(2).padStart(8)}\n`)
  }
}
