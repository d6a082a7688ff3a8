import { readdirSync, readFileSync } from 'node:fs'

/**
 * @typedef {{
 *   cpu: number,
 *   wakeUps: number,
 *   first: number,
 *   calledAt: number[],
 *   took: number[],
 * }} Measurement of a window: CPU in µs and wake-ups, both of all threads of this process; the number of its first record; of each record
 *   when its call began, in ms of the system's steady clock, and how many µs it took
 */

/** Before any window, at a rate of its own: so that code which runs for hours elsewhere is compiled here, too. */
export const warmUpRecords = 2000
const warmUpPerSecond = 4000
/** At the rate of the window, before it begins. */
const settlingMs = 500
/** Five records at 1,000 a second: with two, one call among cold caches and one among warm, the median would lie between both kinds. */
const shortestSliceMs = 5

/** @typedef {{ perSecond: number, first: number, records: number }} Stretch of records at one rate; `first`: the number of its first */

/**
 * Log in small slices of the event loop. Resolves when the time of the last record is over, too.
 *
 * @param {(number: number) => void} log
 * @param {Stretch} stretch
 */
function pace(log, { perSecond, first, records }) {
  return new Promise((resolve) => {
    const startedAt = performance.now()
    let done = 0
    const slice = () => {
      const due = ((performance.now() - startedAt) * perSecond) / 1000
      while (done < Math.min(due, records)) log(first + done++)
      if (due < records) return
      clearInterval(timer)
      resolve(undefined)
    }
    const timer = setInterval(slice, Math.max(shortestSliceMs, 1000 / perSecond))
  })
}

/** @param {(number: number) => void} log */
export const warmUp = (log) => pace(log, { perSecond: warmUpPerSecond, first: 0, records: warmUpRecords })

/**
 * What the process pays for records at a steady rate, behind those of the warm-up. Each call is timed by itself.
 *
 * @param {(number: number) => void} log
 * @param {{ perSecond: number, records: number }} window
 * @returns {Promise<Measurement>}
 */
export async function measureSteadily(log, { perSecond, records }) {
  const settling = Math.round((perSecond * settlingMs) / 1000)
  const first = warmUpRecords + settling
  const calledAt = new Float64Array(settling + records)
  const took = new Float64Array(settling + records)
  /** @param {number} number */
  const timed = (number) => {
    const from = process.hrtime.bigint()
    log(number)
    took[number - warmUpRecords] = Number(process.hrtime.bigint() - from) / 1000
    calledAt[number - warmUpRecords] = Number(from) / 1e6
  }
  await pace(timed, { perSecond, first: warmUpRecords, records: settling })
  const wakeUpsBefore = wakeUps()
  const before = process.cpuUsage()
  await pace(timed, { perSecond, first, records })
  const { user, system } = process.cpuUsage(before)
  return {
    cpu: user + system,
    wakeUps: wakeUps() - wakeUpsBefore,
    first,
    calledAt: [...calledAt.subarray(settling)],
    took: [...took.subarray(settling)],
  }
}

/** How often a thread of this process has gone to sleep, and so must be woken; NaN where Linux does not tell it. */
function wakeUps() {
  try {
    return readdirSync('/proc/self/task')
      .map((thread) => readFileSync(`/proc/self/task/${thread}/status`, 'utf8'))
      .map((status) => Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1]))
      .reduce((sum, switches) => sum + switches, 0)
  } catch {
    return Number.NaN
  }
}
