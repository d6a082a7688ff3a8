import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { median } from '../support/per-call.js'

// All that an application pays before its first line: the import of an entry against a program that imports nothing, and the start of pino's
// worker with `sluice/pino` in it against a worker that discards. Each figure is of a process of its own.
const rounds = Number(process.env.ROUNDS ?? 20)
const here = fileURLToPath(new URL('.', import.meta.url))
const discarding = fileURLToPath(new URL('../support/discarding-target.js', import.meta.url))

/** @param {string | undefined} entry */
const importing = (entry) => [
  '--expose-gc',
  '--input-type=module',
  '--eval',
  `
  const before = performance.now()
  ${entry === undefined ? '' : `await import(${JSON.stringify(entry)})`}
  const ms = performance.now() - before
  gc()
  process.stdout.write(JSON.stringify({ ms, bytes: process.memoryUsage().heapUsed }))
`,
]
const starter = fileURLToPath(new URL('../support/worker-start.js', import.meta.url))

/** @param {readonly string[]} args */
function run(args) {
  const env = { ...process.env, SLUICE_URL: 'http://127.0.0.1:9', SLUICE_API_KEY: 'benchmark', SLUICE_BUCKET: 'b' }
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    cwd: here,
    env,
    encoding: 'utf8',
    timeout: 60_000,
  })
  if (status !== 0) throw new Error(stderr)
  return /** @type {{ ms: number, bytes: number }} */ (JSON.parse(stdout))
}

/** @param {Record<string, readonly string[]>} programs */
function medians(programs) {
  /** @type {Record<string, { ms: number, bytes: number }[]>} */
  const results = Object.fromEntries(Object.keys(programs).map((name) => [name, []]))
  for (let round = -1; round < rounds; round++) {
    // Neither always comes first: the machine may be faster by then.
    const turns = Object.entries(programs)
    if (round % 2 === 0) turns.reverse()
    for (const [name, program] of turns) {
      const result = run(program)
      if (round >= 0) results[name]?.push(result)
    }
  }
  return Object.entries(results).map(([name, all]) => ({
    name,
    ms: median(all.map(({ ms }) => ms)),
    bytes: median(all.map(({ bytes }) => bytes)),
  }))
}

const row = (/** @type {string} */ name, /** @type {readonly string[]} */ cells, budget = '') =>
  process.stdout.write(
    `  ${name.padEnd(42)}${cells.map((text) => text.padStart(10)).join('')}${budget && `   (${budget})`}\n`,
  )

const [nothing, ...entries] = medians({
  nothing: importing(undefined),
  ...Object.fromEntries(['sluice', 'sluice/pino', 'sluice/winston', 'winston'].map((name) => [name, importing(name)])),
})
row(`import, ${rounds} runs each`, ['ms', 'heap, MB'], 'budget of sluice ≤ 15, ≤ 4')
for (const { name, ms, bytes } of entries) {
  row(name, [ms.toFixed(1), ((bytes - (nothing?.bytes ?? Number.NaN)) / 1e6).toFixed(1)])
}

const workers = medians({ 'a worker that discards': [starter, discarding], 'sluice/pino': [starter, 'sluice/pino'] })
row('pino’s worker is ready', ['ms', 'ratio'], 'budget ≤ 1.3')
for (const { name, ms } of workers) {
  row(name, [ms.toFixed(1), (ms / (workers[0]?.ms ?? Number.NaN)).toFixed(2)])
}
