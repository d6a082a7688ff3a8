import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { chromium } from 'playwright-core'
import { sluicePino } from 'sluice/pino'
import { storeRecords } from '../../packages/receiver/test/stored-records.js'
import { median } from '../support/per-call.js'
import { startReceiverProcess } from '../support/receiver-process.js'

// The page in Debian's chromium: filters over stored records (RECORDS, a million), then the first paint, frames, rows of the document and
// memory while a pino logger writes 1,000 lines/s. DURATION_MS=600000 for ten minutes.
const records = Number(process.env.RECORDS ?? 1_000_000)
const durationMs = Number(process.env.DURATION_MS ?? 60_000)
const linesPerTurn = 100
const turnMs = 100
const samples = 10
const visits = 11
/** The list is full, so that memory grows no more by what it holds. */
const warmUpLines = 20_000

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
})
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
await filterStored()

const { url, apiKey, page: address, stop } = await startReceiverProcess(['--json', '--port', '0', '--data', ':memory:'])
await page.goto(address)

const paints = []
for (let visit = 0; visit < visits; visit++) {
  await page.goto('about:blank')
  await page.goto(url)
  await page.getByRole('main').waitFor()
  paints.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0))
}
process.stdout.write(
  `  first paint: ${median(paints).toFixed(0)} ms, at most ${Math.max(...paints).toFixed(0)} (budget 300)\n`,
)

const stream = sluicePino({ url, apiKey, bucket: 'demo', appName: 'shop', env: 'benchmark' })
const logger = pino({ level: 'trace' }, stream)
const levels = /** @type {const} */ (['debug', 'info', 'info', 'info', 'warn', 'error'])
let lines = 0
const turn = setInterval(() => {
  for (let line = 0; line < linesPerTurn; line++) {
    const orderId = `o${(lines * 7919) % 100_003}`
    logger[levels[lines++ % levels.length] ?? 'info']({ orderId, ms: lines % 300 }, 'GET /orders/%s answered', orderId)
  }
}, turnMs)

const devtools = await page.context().newCDPSession(page)
async function heapBytes() {
  await devtools.send('HeapProfiler.collectGarbage')
  return (await devtools.send('Runtime.getHeapUsage')).usedSize
}

/** Frames of each second. @param {number} seconds */
function frames(seconds) {
  return page.evaluate(
    (seconds) =>
      new Promise((/** @type {(counts: number[]) => void} */ resolve) => {
        /** @type {number[]} */
        const counts = []
        const { requestAnimationFrame } = /** @type {any} */ (globalThis)
        const startedAt = performance.now()
        const frame = () => {
          const second = Math.floor((performance.now() - startedAt) / 1000)
          if (second >= seconds) return resolve(counts)
          counts[second] = (counts[second] ?? 0) + 1
          requestAnimationFrame(frame)
        }
        requestAnimationFrame(frame)
      }),
    seconds,
  )
}

await page.locator('[role=table][aria-rowcount]').waitFor()
while (lines < warmUpLines) await frames(1)
process.stdout.write(
  `  ${'after'.padEnd(10)}${'lines'.padStart(10)}${'frames/s'.padStart(10)}${'fewest'.padStart(8)}${'rows'.padStart(6)}${'heap MB'.padStart(9)}\n`,
)
const startedAt = performance.now()
for (let sample = 0; sample < samples; sample++) {
  const counts = await frames(Math.max(2, Math.round(durationMs / 1000 / samples) - 1))
  const rows = await page.locator('[role=row][data-id]').count()
  const heap = (await heapBytes()) / 1e6
  process.stdout.write(
    `  ${`${((performance.now() - startedAt) / 1000).toFixed(0)} s`.padEnd(10)}${String(lines).padStart(10)}${median(counts).toFixed(0).padStart(10)}${String(Math.min(...counts)).padStart(8)}${String(rows).padStart(6)}${heap.toFixed(1).padStart(9)}\n`,
  )
}
process.stdout.write('  (budgets: 50 frames/s, 300 rows, memory that does not grow)\n')
clearInterval(turn)
stream.end()
await once(stream, 'close')
await browser.close()
await stop()

/** From the change of the address until all rows in the document are those of the filter. */
async function filterStored() {
  const data = mkdtempSync(join(tmpdir(), 'sluice-benchmark-'))
  await storeRecords(data, records)
  const receiver = await startReceiverProcess(['--json', '--port', '0', '--data', data, '--new-key'])
  // The answer waits for the index of words.
  await fetch(`${receiver.url}/api/logs/demo?text=nothing`, { headers: { 'x-api-key': receiver.apiKey } })
  await page.goto(receiver.page)
  await page.locator('[role=row][data-id]').first().waitFor()
  /** @type {[query: string, text: string][]} */
  const filters = [
    ['level=error', 'error'],
    ['text=c5', 'c5'],
    ['only=appName:mail&level=debug', 'debug'],
    ['text=answered+503&only=machineName:m7', '503'],
    ['only=env:staging&level=error&since=2024-01-02T00:00:00Z&until=2024-01-03T00:00:00Z', 'error'],
  ]
  process.stdout.write(
    `  ${`ms until ${records} records are filtered`.padEnd(86)}${'median'.padStart(8)}${'slowest'.padStart(9)}   (budget 200)\n`,
  )
  for (const [query, text] of filters) {
    const times = []
    for (let visit = 0; visit < visits; visit++) {
      await page.evaluate('location.hash = "#logs"')
      await page.locator(`[role=row][data-id]:not(:has-text("${text}"))`).first().waitFor()
      times.push(await page.evaluate(filtered, { query, text }))
    }
    process.stdout.write(
      `  ${query.padEnd(86)}${median(times).toFixed(0).padStart(8)}${Math.max(...times)
        .toFixed(0)
        .padStart(9)}\n`,
    )
  }
  await page.goto('about:blank')
  await receiver.stop()
  rmSync(data, { recursive: true })
}

/** Runs in the page. @param {{ query: string, text: string }} filter */
function filtered({ query, text }) {
  const { document, location, requestAnimationFrame } = /** @type {any} */ (globalThis)
  return new Promise((/** @type {(ms: number) => void} */ resolve) => {
    const startedAt = performance.now()
    location.hash = `#logs?${query}`
    const look = () => {
      const rows = [...document.querySelectorAll('[role=row][data-id]')]
      const areAll = rows.length > 0 && rows.every((row) => row.textContent.includes(text))
      if (areAll) resolve(performance.now() - startedAt)
      else requestAnimationFrame(look)
    }
    look()
  })
}
