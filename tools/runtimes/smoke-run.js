import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/** @import { Runtime } from './runtimes.js' */
/** @import { Arrived, Bucket } from './service.js' */
/** @import { Outcome, SmokeTest } from './smoke-tests.js' */

/** Less than the five seconds for which the end of a process waits at most: what ends so late has waited in vain. */
const latestMs = 4500
const giveUpMs = 20_000

/**
 * Run the program of a smoke test, and tell what is seen from outside.
 *
 * @param {SmokeTest} test
 * @param {{ runtime: Runtime, folder: string, bucket: Bucket }} place
 * @returns {Promise<Outcome & { late: boolean }>}
 */
export async function runSmokeTest(test, { runtime, folder, bucket }) {
  const flags = test.flags === undefined ? [] : runtime[test.flags]
  const spool = test.flags === 'spool' ? { SLUICE_SPOOL_DIR: await mkdtemp(join(folder, 'spool-')) } : {}
  // Deno's cache is empty at each start, as in a new container: the modules of a worker then come slowly.
  const cache = { DENO_DIR: await mkdtemp(join(folder, 'cache-')) }
  const run = (/** @type {SmokeTest | NonNullable<SmokeTest['before']>} */ { program, variables = {} }) =>
    runProgram([...runtime.command, ...flags, ...program], {
      folder,
      variables: { ...bucket.variables, ...spool, ...cache, ...variables },
      ...('input' in test ? { input: test.input } : {}),
      ...('signal' in test ? { signal: test.signal } : {}),
    })
  if (test.before !== undefined) await run(test.before)
  const { status, stdout, stderr, ms } = await run(test)
  const { logs, values } = await bucket.arrived()
  const numbers = (/** @type {Arrived[]} */ records) => described(records, runtime.number)
  return { logs: numbers(logs), values: numbers(values), status, stdout, stderr, late: ms > latestMs }
}

/**
 * @param {readonly string[]} command
 * @param {{ folder: string, variables: Record<string, string>, input?: string | undefined, signal?: SmokeTest['signal'] }} plan
 */
async function runProgram([program = '', ...args], { folder, variables, input = '', signal }) {
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...bareEnvironment(), ...variables },
    timeout: giveUpMs,
    killSignal: 'SIGKILL',
  })
  let start = performance.now()
  if (signal !== undefined) {
    child.stdout.on('data', (printed) => {
      if (!String(printed).includes(signal.line)) return
      start = performance.now()
      child.kill(signal.signal)
    })
  }
  child.stdin.end(input)
  const [stdout, stderr, [code, died]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { status: died ?? code, stdout, stderr, ms: performance.now() - start }
}

/** Variables that the runtimes need, and none that changes Sluice. */
function bareEnvironment() {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME, NO_COLOR: '1' }
}

/**
 * The numbers of records, in words: `1–100` when each of these has arrived once and says that it comes from this runtime.
 *
 * @param {readonly Arrived[]} records
 * @param {number} runtime
 */
function described(records, runtime) {
  if (records.length === 0) return 'none'
  const numbers = records.map(({ message, eventId }) => Number(message?.match(/^line (\d+)/)?.[1] ?? eventId ?? 0))
  const sorted = [...numbers].sort((one, other) => one - other)
  const strangers = records.filter((record) => record.runtime !== runtime).length
  const whole = sorted.every((number, index) => number === index + 1)
  const range = whole ? `1–${sorted.length}` : sorted.join(' ')
  return strangers === 0 ? range : `${range}, ${strangers} of another runtime`
}
