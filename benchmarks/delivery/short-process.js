import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startServer } from '../support/measure.js'
import { median } from '../support/per-call.js'

// A process that logs a hundred lines and ends by itself: how much longer does it take than with a worker that discards, and when does the
// first line arrive?
const lines = 100
const rounds = Number(process.env.ROUNDS ?? 20)
const floor = 'pino, a worker that discards'
const names = [floor, 'Sluice: pino target']
const program = fileURLToPath(new URL('../support/short-application.js', import.meta.url))
const now = () => Number(process.hrtime.bigint()) / 1e6

/** CPU of all children that have ended, user and system, in ms; NaN where the system does not tell. A tick is 10 ms. */
function cpuOfChildren() {
  try {
    const [, fields = ''] = readFileSync('/proc/self/stat', 'utf8').split(') ')
    const all = fields.split(' ')
    return (Number(all[13]) + Number(all[14])) * 10
  } catch {
    return Number.NaN
  }
}

/** @param {string} name */
async function run(name) {
  const server = await startServer()
  const cpuBefore = cpuOfChildren()
  const startedAt = now()
  const child = spawn(process.execPath, [program, name, server.url, String(lines)], {
    env: { ...process.env, SLUICE_URL: server.url, SLUICE_API_KEY: 'benchmark', SLUICE_BUCKET: 'b' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout.on('data', (text) => {
    printed += text
  })
  const closed = once(child, 'close')
  const [status] = await once(child, 'exit')
  const wallMs = now() - startedAt
  await closed
  if (status !== 0) throw new Error(`${name} ended with ${status}`)
  const cpuMs = cpuOfChildren() - cpuBefore
  const { firstAt, requests } = await server.report({ evenIfBusy: true })
  if (name !== floor && requests !== lines) throw new Error(`${name}: ${requests} of ${lines} lines arrived`)
  // Its CPU time must not count for the next run.
  await server.stop()
  return { wallMs, cpuMs, firstMs: (name === floor ? Number(printed) : firstAt) - startedAt }
}

/** @type {Record<string, Awaited<ReturnType<typeof run>>[]>} */
const results = Object.fromEntries(names.map((name) => [name, []]))
for (let round = -1; round < rounds; round++) {
  for (const name of names) {
    const result = await run(name)
    if (round >= 0) results[name]?.push(result)
  }
}
const figures = Object.values(results).map((all) => ({
  wallMs: median(all.map(({ wallMs }) => wallMs)),
  // The mean, for each is in ticks.
  cpuMs: all.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / all.length,
  firstMs: median(all.map(({ firstMs }) => firstMs)),
}))
const cells = (/** @type {string[]} */ texts) => texts.map((text) => text.padStart(16)).join('')
process.stdout.write(
  `  ${`${lines} lines, ${rounds} runs each`.padEnd(42)}${cells(['wall ms', 'CPU ms', 'first line ms'])}   (budget ≤ +25, ≤ +30, ≤ 1.3 ×)\n`,
)
const [base] = figures
for (const [index, { wallMs, cpuMs, firstMs }] of figures.entries()) {
  const more = (/** @type {number} */ figure, beyond = 0) =>
    `${figure.toFixed(0)}${index === 0 ? '' : ` (+${(figure - beyond).toFixed(0)})`}`
  const ratio = index === 0 ? '' : ` (${(firstMs / (base?.firstMs ?? Number.NaN)).toFixed(2)} ×)`
  const row = [more(wallMs, base?.wallMs), more(cpuMs, base?.cpuMs), `${firstMs.toFixed(0)}${ratio}`]
  process.stdout.write(`  ${(names[index] ?? '').padEnd(42)}${cells(row)}\n`)
}
