import { spawn } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { buildSync } from 'esbuild'

// npm run simulate -- --seeds 10000 --from 1: simulations of the whole library, and a report of what they never reached.
// npm run simulate -- --show --from 7: one seed with its schedule, its trace, and a smaller schedule where it fails.
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    show: { type: 'boolean', default: false },
  },
})
for (const name of /** @type {const} */ (['seeds', 'from'])) {
  if (/^[1-9]\d*$/.test(values[name])) continue
  process.stderr.write(`--${name}: expected a whole number from 1 on, got ${JSON.stringify(values[name])}\n`)
  process.exit(2)
}

const mostShown = 20
const root = new URL('../', import.meta.url)
// In the receiver, whose packages and version the simulation reads.
const folder = new URL('packages/receiver/.simulation/', root)
const program = fileURLToPath(new URL(`simulate-${process.pid}.mjs`, folder))
mkdirSync(folder, { recursive: true })
process.on('exit', () => rmSync(program, { force: true }))
buildSync({
  entryPoints: [fileURLToPath(new URL('test/simulation/main.ts', root))],
  outfile: program,
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  sourcemap: 'inline',
  logLevel: 'error',
})

/**
 * @param {string[]} args
 * @param {'inherit' | 'pipe'} output
 * @returns {Promise<{ status: number, text: string }>}
 */
function run(args, output) {
  // Source maps make each error slow.
  const options = output === 'inherit' ? ['--enable-source-maps'] : []
  const child = spawn(process.execPath, [...options, program, ...args], {
    stdio: ['ignore', output, 'inherit'],
  })
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', (part) => {
    text += part
  })
  return new Promise((resolve) => child.on('close', (status) => resolve({ status: status ?? 1, text })))
}

/**
 * All seeds, shared out among as many processes as there are cores.
 *
 * @returns {Promise<{ texts: string[], tookS: number }>} what each process has printed
 */
async function runSeeds() {
  const seeds = Number(values.seeds)
  const step = Math.min(seeds, availableParallelism())
  const startedAt = performance.now()
  const parts = await Promise.all(
    Array.from({ length: step }, (_, part) => {
      const range = ['--from', `${Number(values.from) + part}`, '--seeds', `${seeds - part}`, '--step', `${step}`]
      return run(range, 'pipe')
    }),
  )
  if (parts.some(({ status }) => status !== 0)) process.exit(1)
  return { texts: parts.map(({ text }) => text), tookS: (performance.now() - startedAt) / 1000 }
}

/** @returns {Promise<boolean>} true where no seed has failed */
async function findViolations() {
  const { texts, tookS } = await runSeeds()
  /** @type {import('../test/simulation/main.js').RangeResult[]} */
  const results = texts.map((text) => JSON.parse(text))
  const simulatedS = results.reduce((sum, { simulatedMs }) => sum + simulatedMs / 1000, 0)
  const reached = new Set(results.flatMap(({ coverage }) => coverage.map(([name]) => name)))
  /** @type {string[]} */
  const expected = JSON.parse((await run(['--states'], 'pipe')).text)
  const never = expected.filter((name) => !reached.has(name))
  const failures = results.flatMap(({ failures }) => failures).sort((a, b) => a.seed - b.seed)
  process.stdout.write(
    `${values.seeds} seeds, ${(simulatedS / 3600).toFixed(1)} simulated hours in ${tookS.toFixed(0)} s: ${Math.round(simulatedS / tookS)} × real time\n` +
      `${expected.length - never.length} of ${expected.length} states reached\n`,
  )
  if (never.length > 0) process.stdout.write(`never reached: ${never.join('; ')}\n`)
  for (const { seed, violation } of failures.slice(0, mostShown)) {
    process.stdout.write(`seed ${seed}: ${violation.split('\n')[0]}; npm run simulate -- --show --from ${seed}\n`)
  }
  process.stdout.write(failures.length === 0 ? 'no violation\n' : `${failures.length} seeds fail\n`)
  return failures.length === 0
}

if (values.show) {
  const { status } = await run(['--show', '--from', values.from], 'inherit')
  process.exitCode = status
} else process.exitCode = (await findViolations()) ? 0 : 1
