import { trusting } from '../support/certificates.js'
import { startApplication, untilArrived } from '../support/contest.js'
import { contestants } from '../support/contestants/contestants.js'
import { mark } from '../support/contestants/order.js'
import { startServer } from '../support/measure.js'
import { median, quantile } from '../support/per-call.js'
import { warmUpRecords } from '../support/steady-rate.js'
import { versionsOf } from '../support/versions.js'

// What an application pays at the rates at which applications log: there each record may be a wake-up, a request and a write of its own.
const rates = (process.env.RATES ?? '10,100,1000').split(',').map(Number)
/** A multiple of the longest flush interval among them, 5 s, so that as many records are sent in the window as are logged in it. */
const windowMs = Number(process.env.DURATION_MS ?? 10_000)
const rounds = Number(process.env.ROUNDS ?? 1)
/** `ONLY=winston,loki`: those whose names hold one of these. */
const only = (process.env.ONLY ?? '').split(',')
const names = [
  'pino, a worker that discards',
  'winston, a transport that does nothing',
  'pino-loki',
  '@logtail/pino',
  'pino-opentelemetry-transport',
  'winston-loki',
  'Sluice: pino target',
  'Sluice: sluicePino',
  'Sluice: winston',
  'Sluice: track',
].filter((name) => only.some((part) => name.includes(part)))

/**
 * @typedef {{
 *   cpu: number,
 *   wakeUps: number,
 *   callMedian: number,
 *   callP99: number,
 *   delayMedian: number,
 *   delayP99: number,
 *   lost: number,
 *   complaint: string,
 * }} Result CPU in µs per record, wake-ups per record, calls in µs, delays in ms, lost in records of the window; `complaint`: the first line
 *   that it wrote to stderr
 */

/**
 * One contestant in a process of its own, with a server of its own.
 *
 * @param {string} name
 * @param {{ perSecond: number, secure: boolean }} setting
 * @returns {Promise<Result>}
 */
async function measure(name, { perSecond, secure }) {
  const records = Math.round((perSecond * windowMs) / 1000)
  const options = contestants[name]?.server
  const server = options === null ? undefined : await startServer({ mark, ...options, secure })
  const setting = { url: server?.url ?? '', records, perSecond, env: secure ? trusting : {} }
  const application = startApplication(name, setting)
  try {
    await application.ready
    await application.order('warmUp')
    if (server !== undefined) await untilArrived(server, warmUpRecords)
    /** @type {import('../support/steady-rate.js').Measurement} */
    const window = await application.order('steady')
    const delays = server === undefined ? [] : await delaysOf(server, window)
    return {
      cpu: window.cpu / records,
      wakeUps: window.wakeUps / records,
      callMedian: median(window.took),
      callP99: quantile(window.took, 0.99),
      delayMedian: median(delays),
      delayP99: quantile(delays, 0.99),
      lost: server === undefined ? 0 : records - delays.length,
      complaint: application.complaint(),
    }
  } finally {
    application.kill()
    await server?.stop()
  }
}

/**
 * From the call to the service, in ms, of each record of the window that arrived.
 *
 * @param {Awaited<ReturnType<typeof startServer>>} server
 * @param {import('../support/steady-rate.js').Measurement} window
 */
async function delaysOf(server, { first, calledAt }) {
  const all = first + calledAt.length
  await untilArrived(server, all)
  const { arrivedAt } = await server.report({ arrivals: all })
  return arrivedAt.slice(first).flatMap((at, index) => (at === 0 ? [] : [at - (calledAt[index] ?? Number.NaN)]))
}

/** @type {readonly [title: string, figure: (result: Result) => number, digits: number][]} */
const columns = [
  ['CPU µs', ({ cpu }) => cpu, 0],
  ['wake-ups', ({ wakeUps }) => wakeUps, 2],
  ['call µs', ({ callMedian }) => callMedian, 1],
  ['p99 µs', ({ callP99 }) => callP99, 1],
  ['delay ms', ({ delayMedian }) => delayMedian, 1],
  ['p99 ms', ({ delayP99 }) => delayP99, 1],
]

/** @param {string} name @param {Result[]} results of its rounds @param {string} [failure] */
function rowOf(name, results, failure) {
  if (results.length === 0) return `  ${name.padEnd(42)}  ${failure}\n`
  const cells = columns.map(([, figure, digits]) => {
    const value = median(results.map(figure))
    return (Number.isNaN(value) ? '–' : value.toFixed(digits)).padStart(11)
  })
  const lost = Math.max(...results.map((result) => result.lost))
  const notes = [lost > 0 ? `${lost} lost` : '', results[0]?.complaint ?? ''].filter((note) => note !== '')
  return `  ${name.padEnd(42)}${cells.join('')}${notes.map((note) => `  ${note.slice(0, 80)}`).join('')}\n`
}

const header = columns.map(([title]) => title.padStart(11)).join('')
for (const perSecond of rates) {
  for (const secure of [false, true]) {
    const rows = names.filter((name) => !secure || contestants[name]?.server !== null)
    /** @type {Record<string, Result[]>} */
    const results = Object.fromEntries(rows.map((name) => [name, []]))
    /** @type {Record<string, string>} */
    const failures = {}
    for (let round = 0; round < rounds; round++) {
      for (const [name, before] of Object.entries(results)) {
        if (failures[name] !== undefined) continue
        try {
          before.push(await measure(name, { perSecond, secure }))
        } catch (error) {
          failures[name] = String(error)
        }
      }
    }
    process.stdout.write(`  ${`${perSecond} records/s${secure ? ', https' : ''}`.padEnd(42)}${header}\n`)
    for (const [name, all] of Object.entries(results)) process.stdout.write(rowOf(name, all, failures[name]))
  }
}
const libraries = names.flatMap((name) => contestants[name]?.library ?? [])
process.stdout.write(`  ${versionsOf([...libraries, 'pino', 'winston']).join(', ')}\n`)
