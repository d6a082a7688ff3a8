import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** @typedef {{ distinct: number, repeated: number, lastAt: number }} Totals of records; the time is that of the last new one, in ms */

/**
 * Start the cheap server in a process of its own. `report` says what arrived; without `totals` when more is arriving at this moment.
 *
 * @param {import('./cheap-server.js').ServerOptions} [options]
 */
export async function startServer(options = {}) {
  const child = fork(fileURLToPath(new URL('./cheap-server.js', import.meta.url)), [JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const [port] = await once(/** @type {import('node:stream').Readable} */ (child.stdout), 'data')
  return {
    url: urlOf(Number(port), options),
    /** Resolves when its process has ended. */
    stop: async () => {
      child.kill()
      await once(child, 'exit')
    },
    /**
     * `arrivals`: of how many records, from the first on, it tells when each arrived; `firstAt`: the first bytes, in ms
     *
     * @returns {Promise<{ busy: boolean, requests: number, totals?: Totals, arrivedAt: number[], firstAt: number }>}
     */
    report: async ({ evenIfBusy = false, arrivals = 0 } = {}) => {
      child.send({ evenIfBusy, arrivals })
      const [message] = await once(child, 'message')
      return message
    },
  }
}

/**
 * Where such a server is found, started or not.
 *
 * @param {number} port
 * @param {import('./cheap-server.js').ServerOptions | null} [options]
 */
export function urlOf(port, options) {
  return `${options?.secure ? 'https' : 'http'}://127.0.0.1:${port}`
}

/**
 * CPU of this process, user and system, and wall time, in µs per record.
 *
 * @param {number} records
 * @param {() => Promise<void>} work
 */
export async function perRecord(records, work) {
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  await work()
  const { user, system } = process.cpuUsage(cpu)
  return { cpu: (user + system) / records, wall: ((performance.now() - startedAt) * 1000) / records }
}

/**
 * The contestants in turn, several rounds, the median of each: so that a slow moment of the machine hits all of them.
 *
 * @param {Record<string, () => Promise<{ cpu: number, wall: number }>>} contestants
 */
export async function compare(contestants, { rounds = 5 } = {}) {
  /** @type {Record<string, { cpu: number, wall: number }[]>} */
  const results = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]))
  for (let round = -1; round < rounds; round++) {
    for (const [name, run] of Object.entries(contestants)) {
      const result = await run()
      if (round >= 0) results[name]?.push(result)
    }
  }
  const median = (/** @type {number[]} */ figures) =>
    figures.sort((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN
  return Object.fromEntries(
    Object.entries(results).map(([name, all]) => [
      name,
      { cpu: median(all.map(({ cpu }) => cpu)), wall: median(all.map(({ wall }) => wall)) },
    ]),
  )
}

/**
 * Print the medians and their ratio to the first row.
 *
 * @param {Record<string, { cpu: number, wall: number }>} medians
 */
export function printMedians(medians) {
  const baseline = Object.values(medians)[0]?.cpu ?? Number.NaN
  process.stdout.write(
    `  ${''.padEnd(36)}${'CPU µs/record'.padStart(14)}${'ratio'.padStart(8)}${'records/s'.padStart(12)}\n`,
  )
  for (const [name, { cpu, wall }] of Object.entries(medians)) {
    const ratio = (cpu / baseline).toFixed(2)
    process.stdout.write(
      `  ${name.padEnd(36)}${cpu.toFixed(2).padStart(14)}${ratio.padStart(8)}${Math.round(1e6 / wall)
        .toString()
        .padStart(12)}\n`,
    )
  }
}
