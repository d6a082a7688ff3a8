import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { startServer } from '../support/measure.js'
import { median } from '../support/per-call.js'

// How late the application's event loop is at 5,000 lines a second, with a service that answers and in an outage.
const perSecond = 5000
const seconds = 1.5
const rounds = 3
const contestants = ['nothing', 'pino to /dev/null', 'pino target', 'winston transport', 'track']
const application = fileURLToPath(new URL('../support/paced-application.js', import.meta.url))

/**
 * The 99th percentile of one run in ms; each is a process of its own, killed when it has told it: delivery is not the question here.
 *
 * @param {string} contestant
 * @param {string} url
 * @returns {Promise<number>}
 */
function delayOf(contestant, url) {
  const env = { ...process.env, SLUICE_URL: url, SLUICE_API_KEY: 'benchmark', SLUICE_BUCKET: 'b' }
  const argv = [application, contestant, String(seconds), String(perSecond)]
  return new Promise((resolve, reject) => {
    execFile(process.execPath, argv, { env }, (_, stdout, stderr) => {
      try {
        resolve(JSON.parse(stdout).p99)
      } catch {
        reject(new Error(`${contestant} told nothing: ${stdout}${stderr}`))
      }
    })
  })
}

const server = await startServer()
const refused = 'http://127.0.0.1:9'
/** @type {Record<string, { healthy: number[], outage: number[] }>} */
const results = Object.fromEntries(contestants.map((name) => [name, { healthy: [], outage: [] }]))
for (let round = 0; round < rounds; round++) {
  for (const name of contestants) {
    results[name]?.healthy.push(await delayOf(name, server.url))
    results[name]?.outage.push(await delayOf(name, refused))
  }
}
server.stop()

const baseline = results[contestants[0] ?? '']
process.stdout.write(
  `  ${'p99, ms'.padEnd(24)}${'healthy'.padStart(10)}${'more'.padStart(8)}${'outage'.padStart(10)}${'more'.padStart(8)}   (budget ≤ +1)\n`,
)
for (const [name, { healthy, outage }] of Object.entries(results)) {
  const columns = [
    median(healthy).toFixed(2).padStart(10),
    (median(healthy) - median(baseline?.healthy ?? [])).toFixed(2).padStart(8),
    median(outage).toFixed(2).padStart(10),
    (median(outage) - median(baseline?.outage ?? [])).toFixed(2).padStart(8),
  ]
  process.stdout.write(`  ${name.padEnd(24)}${columns.join('')}\n`)
}
