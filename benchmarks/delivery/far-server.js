import { startApplication } from '../support/contest.js'
import { contestants } from '../support/contestants/contestants.js'
import { mark } from '../support/contestants/order.js'
import { startServer } from '../support/measure.js'
import { median } from '../support/per-call.js'

// Records per second to a server that takes 50 ms for a request: one that works on the requests of a connection side by side, and one
// that takes them one by one. Twice as many are offered as the budget asks for; the beginning, where delivery finds out how much it may
// send, counts.
const delayMs = 50
const windowMs = 5000
const perSecond = 20_000
const rounds = Number(process.env.ROUNDS ?? 3)
const servers = { 'side by side': { delayMs }, 'one by one': { delayMs, oneByOne: true } }
const names = ['Sluice: pino target', 'Sluice: pino target, https', 'Sluice: pino target, pipelining off']

/**
 * @param {string} name
 * @param {import('../support/cheap-server.js').ServerOptions} options
 */
async function recordsPerSecond(name, options) {
  const server = await startServer({ mark, ...contestants[name]?.server, ...options })
  const application = startApplication(name, { url: server.url, records: (perSecond * windowMs) / 1000, perSecond })
  await application.ready
  await application.order('log')
  const { totals } = await server.report({ evenIfBusy: true })
  application.kill()
  server.stop()
  if (totals === undefined) throw new Error('the server counts nothing')
  return (totals.distinct * 1000) / windowMs
}

process.stdout.write(
  `  ${`records/s of ${perSecond} offered, median of ${rounds}`.padEnd(42)}${Object.keys(servers)
    .map((server) => server.padStart(14))
    .join('')}   (budget ≥ 10,000 side by side, with the defaults)\n`,
)
for (const name of names) {
  const cells = []
  for (const options of Object.values(servers)) {
    const results = []
    for (let round = 0; round < rounds; round++) results.push(await recordsPerSecond(name, options))
    cells.push(median(results).toFixed(0).padStart(14))
  }
  process.stdout.write(`  ${name.padEnd(42)}${cells.join('')}\n`)
}
