import { setTimeout as wait } from 'node:timers/promises'
import { startApplication } from '../support/contest.js'
import { contestants } from '../support/contestants/contestants.js'
import { mark } from '../support/contestants/order.js'
import { startServer, urlOf } from '../support/measure.js'
import { versionsOf } from '../support/versions.js'

// Records that each transport loses with its defaults: at process.exit(), at SIGTERM, and in an outage.
const records = Number(process.env.RECORDS ?? 1000)
const outageMs = Number(process.env.OUTAGE_MS ?? 30_000)
const perSecond = 1000
/** `ONLY=winston,loki`: those whose names hold one of these. */
const only = (process.env.ONLY ?? '').split(',')
/** Nothing new for this long after an outage is the end: longer than any backoff among them. */
const patienceMs = 60_000
/** So many outages side by side: they take time and hardly any work. */
const atOnce = 4

const names = Object.entries(contestants)
  .filter(([, { server }]) => server !== null)
  .map(([name]) => name)
  .filter((name) => !/, (tuned|pipelining off|keys not echoed)$/.test(name) && only.some((part) => name.includes(part)))
/**
 * Rows: a name of the list of contestants and, with variables of its process, a word that distinguishes it from other rows of the same contestant.
 *
 * @type {{ title: string, name: string, env?: Record<string, string> }[]}
 */
const rows = names.flatMap((name) =>
  name === 'Sluice: pino target'
    ? [
        { title: `${name}, --import sluice/register`, name, env: { NODE_OPTIONS: '--import sluice/register' } },
        { title: `${name} alone`, name },
      ]
    : [{ title: name, name }],
)

/**
 * An application and its server; what of its records has arrived when `course` is over.
 *
 * @param {{ name: string, env?: Record<string, string> }} row
 * @param {{ records: number, perSecond?: number, port?: number }} setting
 * @param {(application: ReturnType<typeof startApplication>, begin: () => ReturnType<typeof startServer>) => Promise<unknown>} course
 */
async function lossOf({ name, env = {} }, { records, perSecond, port = 0 }, course) {
  /** @type {Awaited<ReturnType<typeof startServer>> | undefined} */
  let server
  const begin = async () => {
    server = await startServer({ mark, port, ...contestants[name]?.server })
    return server
  }
  const url = port === 0 ? (await begin()).url : urlOf(port, contestants[name]?.server)
  const application = startApplication(name, { url, records, env, ...(perSecond === undefined ? {} : { perSecond }) })
  try {
    await application.ready
    await course(application, begin)
    const { totals } = (await server?.report({ evenIfBusy: true })) ?? {}
    return String(records - (totals?.distinct ?? 0))
  } catch (error) {
    return `ended: ${String(error).split('\n')[0]?.slice(0, 60)}`
  } finally {
    application.kill()
    server?.stop()
  }
}

/** @param {typeof rows[number]} row */
const atExit = (row) => lossOf(row, { records }, (application) => application.exit())

/** @param {typeof rows[number]} row */
const atSigterm = (row) =>
  lossOf(row, { records }, async (application) => {
    await application.order('log')
    await application.terminate()
  })

/**
 * The service is away for the whole of the time in which the application logs, and comes back then.
 *
 * @param {typeof rows[number]} row
 */
function inOutage(row) {
  const records = (outageMs / 1000) * perSecond
  // Below the ephemeral ports: a socket that connects to one of those on loopback may reach itself.
  const port = 20_000 + ((process.pid * 16 + rows.indexOf(row)) % 10_000)
  return lossOf(row, { records, perSecond, port }, async (application, begin) => {
    await application.order('log')
    const server = await begin()
    for (let [seen, since] = [0, performance.now()]; performance.now() - since < patienceMs; await wait(200)) {
      const { requests, totals } = await server.report()
      if (requests !== seen) since = performance.now()
      seen = requests
      if ((totals?.distinct ?? 0) >= records) break
    }
  })
}

/** @type {Record<string, string>} */
const outages = {}
const waiting = [...rows]
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) outages[row.title] = await inOutage(row)
  }),
)

const titles = [`exit, ${records}`, `SIGTERM, ${records}`, `outage, ${(outageMs / 1000) * perSecond}`]
process.stdout.write(`  ${'lost, of'.padEnd(48)}${titles.map((title) => title.padStart(16)).join('')}\n`)
for (const row of rows) {
  const cells = [await atExit(row), await atSigterm(row), outages[row.title] ?? '']
  process.stdout.write(`  ${row.title.padEnd(48)}${cells.map((cell) => cell.padStart(16)).join('')}\n`)
}
const libraries = names.flatMap((name) => contestants[name]?.library ?? [])
process.stdout.write(`  ${versionsOf([...libraries, 'pino', 'winston']).join(', ')}\n`)
