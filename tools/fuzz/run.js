import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { bundleTarget } from './bundle.js'

// Fuzzes the parsers, one after the other: inputs are changed at random, and those that reach new code are kept and changed further.
// Exit status: 0 no finding; 1 a finding, with its input in a file and the command that repeats it; 2 a wrong command line.
const help = `Usage: npm run fuzz -- [options]

  --seconds N     time in all, shared by the targets (default 30)
  --target NAME   only this one; several times for several
  --seed N        seed of the random numbers (default: by the time)
  --input FILE    run one input, with --target
`
const root = fileURLToPath(new URL('../../', import.meta.url))
const names = readdirSync(new URL('targets/', import.meta.url))
  .map((file) => file.replace(/\.ts$/, ''))
  .sort()
const maxBytes = 4096
/** One input that takes longer is a finding. */
const patienceMs = 10_000

const plan = readArguments()
process.stdout.write(`seed ${plan.seed}\n${row(['target', 'runs', 'runs/s', 'code reached', 'inputs'])}`)
for (const name of plan.targets) await fuzz(name)

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        seconds: { type: 'string', default: '30' },
        target: { type: 'string', multiple: true, default: names },
        seed: { type: 'string', default: String(Date.now() % 1_000_000) },
        input: { type: 'string' },
      },
    })
    const { seconds, target: targets, seed, input } = values
    const unknown = targets.filter((name) => !names.includes(name))
    if (unknown.length > 0) throw new Error(`--target: expected one of ${names.join(', ')}, got ${unknown.join(', ')}`)
    if (!/^\d{1,6}$/.test(seconds) || !/^\d{1,9}$/.test(seed))
      throw new Error('--seconds, --seed: expected whole numbers')
    if (input !== undefined && targets.length !== 1) throw new Error('--input: say --target, too')
    return { seconds: Number(seconds) / targets.length, targets, seed: Number(seed), input }
  } catch (error) {
    process.stderr.write(`${/** @type {Error} */ (error).message}\n${help}`)
    return process.exit(2)
  }
}

/** @param {string} name */
async function fuzz(name) {
  const { path, counters, words } = await bundleTarget(name)
  const memory = new SharedArrayBuffer(8 + maxBytes)
  const { seconds, seed, input: only } = plan
  const corpus = fileURLToPath(new URL(`dist/corpus/${name}/`, import.meta.url))
  const worker = new Worker(new URL('fuzzing-thread.js', import.meta.url), {
    workerData: { path, counters, words, seconds, seed, corpus, memory, maxBytes, only },
    env: {},
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 1024 },
  })
  const startedAt = performance.now()
  /** @type {{ executions: number, reached: number, inputs: number, failure?: string } | undefined} */
  let facts
  /** @type {string | undefined} */
  let failure
  worker.on('message', (message) => {
    facts = message
  })
  // The receiver prints each failure that it answers with 5xx: that is a finding anyway.
  worker.stderr.resume()
  worker.on('error', (error) => {
    failure = error.stack ?? String(error)
  })
  const state = new Int32Array(memory, 0, 2)
  let before = -1
  const watch = setInterval(() => {
    const executions = Atomics.load(state, 0)
    if (executions === before) {
      failure = `one input takes more than ${patienceMs / 1000} s`
      void worker.terminate()
    }
    before = executions
  }, patienceMs)
  await new Promise((resolve) => worker.once('exit', resolve))
  clearInterval(watch)
  const tookMs = performance.now() - startedAt
  const { executions, reached, inputs } = facts ?? { executions: Atomics.load(state, 0), reached: 0, inputs: 0 }
  const perSecond = Math.round((1000 * executions) / tookMs)
  process.stdout.write(row([name, executions, perSecond, `${reached} of ${counters}`, inputs]))
  failure ??= facts?.failure ?? (facts === undefined ? 'the thread has ended' : undefined)
  if (failure === undefined) return
  process.exitCode = 1
  tell(name, { failure, input: Buffer.from(Buffer.from(memory, 8, state[1])) })
}

/** @param {string} name @param {{ failure: string, input: Buffer }} finding */
function tell(name, { failure, input }) {
  const folder = new URL('dist/findings/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  const file = fileURLToPath(
    new URL(`${name}-${createHash('sha256').update(input).digest('hex').slice(0, 12)}`, folder),
  )
  writeFileSync(file, input)
  process.stdout.write(
    `\n${name}: ${failure}\n\ninput: ${JSON.stringify(input.toString('latin1').slice(0, 1000))}\n` +
      `repeat: npm run fuzz -- --target ${name} --input ${relative(root, file)}\n\n`,
  )
}

/** @param {readonly (string | number)[]} cells */
function row([name = '', ...others]) {
  return `${String(name).padEnd(20)}${others.map((each) => String(each).padStart(16)).join('')}\n`
}
