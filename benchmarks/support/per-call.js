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
 * Nanoseconds of this thread per call: contestants in turn, several rounds, the median of each.
 *
 * @param {Record<string, (calls: number) => void>} contestants each makes that many calls
 * @param {{ calls?: number, rounds?: number, clock?: () => bigint, between?: () => Promise<void> }} [setting]
 *   `clock`: where a round is shorter than the ticks of a thread's own time, the wall clock is the finer one
 */
export async function comparePerCall(
  contestants,
  { calls = 100_000, rounds = 9, clock = threadTime, between = async () => {} } = {},
) {
  /** @type {Record<string, number[]>} */
  const results = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]))
  for (let round = -2; round < rounds; round++) {
    for (const [name, run] of Object.entries(contestants)) {
      const startedAt = clock()
      run(calls)
      const nanoseconds = Number(clock() - startedAt) / calls
      if (round >= 0) results[name]?.push(nanoseconds)
      await between()
    }
  }
  return Object.fromEntries(
    Object.entries(results).map(([name, all]) => [
      name,
      all.sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN,
    ]),
  )
}

/**
 * @param {Record<string, number>} medians the first is the baseline
 * @param {string} budget
 */
export function printPerCall(medians, budget) {
  const baseline = Object.values(medians)[0] ?? Number.NaN
  process.stdout.write(`  ${''.padEnd(44)}${'ns/call'.padStart(10)}${'ratio'.padStart(8)}   (budget ${budget})\n`)
  for (const [name, nanoseconds] of Object.entries(medians)) {
    process.stdout.write(
      `  ${name.padEnd(44)}${nanoseconds.toFixed(0).padStart(10)}${(nanoseconds / baseline).toFixed(2).padStart(8)}\n`,
    )
  }
}
