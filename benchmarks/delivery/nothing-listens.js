import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort } from '../support/free-port.js'
import { median } from '../support/per-call.js'

// A process whose service does not listen: how long does its end take, beyond that of the same process with Sluice off?
const rounds = Number(process.env.ROUNDS ?? 5)
const lives = [0, 2000]
const ends = ['natural', 'process.exit()', 'SIGTERM']
const rows = [
  ['pino target', 'worker'],
  ...['sluicePino()', 'winston', 'track'].flatMap((way) => ['worker', 'inline'].map((mode) => [way, mode])),
].filter(([way, mode]) => `${way}, ${mode}`.startsWith(process.env.ONLY ?? ''))
const program = fileURLToPath(new URL('../support/ending-application.js', import.meta.url))

/**
 * From the word of the process that it ends until it has ended, in ms.
 *
 * @param {string[]} args
 * @param {Record<string, string>} variables
 */
async function endOf(args, variables) {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exit = once(child, 'exit')
  await once(child.stdout, 'data')
  const beganAt = performance.now()
  await exit
  return performance.now() - beganAt
}

const url = `http://127.0.0.1:${await freePort()}`
const columns = lives.flatMap((ms) => ends.map((end) => ({ ms, end })))
const cells = (/** @type {string[]} */ texts) => texts.map((text) => text.padStart(16)).join('')
const titles = columns.map(({ ms, end }) => `${end}, ${ms / 1000} s`)
process.stdout.write(`  ${`ms beyond Sluice off, ${rounds} runs each`.padEnd(30)}${cells(titles)}   (budget ≤ 500)\n`)
for (const [way = '', mode = ''] of rows) {
  const figures = []
  for (const { ms, end } of columns) {
    const [on, off] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([])]
    for (let round = 0; round < rounds; round++) {
      const variables = { SLUICE_URL: url, SLUICE_API_KEY: 'benchmark', SLUICE_BUCKET: 'b', SLUICE_MODE: mode }
      on.push(await endOf([way, end, `${ms}`], variables))
      off.push(await endOf([way, end, `${ms}`], { ...variables, SLUICE_DISABLED: 'true' }))
    }
    figures.push(median(on) - median(off))
  }
  const name = way === 'pino target' ? way : `${way}, ${mode}`
  process.stdout.write(`  ${name.padEnd(30)}${cells(figures.map((figure) => figure.toFixed(0)))}\n`)
}
