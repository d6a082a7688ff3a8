import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import { mutator, randomNumbers } from './mutations.js'

// Runs one target with inputs that it makes from those that reached new code. The input in use stands in memory that the main thread
// reads when this thread hangs or dies.
const { path, counters: size, words, seconds, seed, corpus, memory, maxBytes, only } = workerData
const state = new Int32Array(memory, 0, 2)
const current = Buffer.from(memory, 8)
const counters = new Uint8Array(65_536)
Object.assign(globalThis, { __counters: counters })
const { fuzz, seeds } = await import(pathToFileURL(path).href)
const random = randomNumbers(seed)
const mutate = mutator({ random, words, maxBytes })
/** For each counter the bits of the magnitudes that it has reached. */
const reached = new Uint8Array(size)
/** @type {Buffer[]} */
const inputs = []
let executions = 0

process.on('uncaughtException', (error) => found(error))

if (only === undefined) await explore()
else await run(readFileSync(only))
finish()

async function explore() {
  mkdirSync(corpus, { recursive: true })
  const kept = readdirSync(corpus).map((name) => readFileSync(join(corpus, name)))
  for (const input of [
    Buffer.alloc(0),
    ...seeds.map((/** @type {string | Buffer} */ each) => Buffer.from(each)),
    ...kept,
  ]) {
    await run(input.subarray(0, maxBytes))
    if (isNew() || inputs.length === 0) inputs.push(input.subarray(0, maxBytes))
  }
  const end = performance.now() + 1000 * seconds
  while (performance.now() < end) {
    const input = mutate(chosen(), chosen())
    await run(input)
    if (!isNew()) continue
    inputs.push(Buffer.from(input))
    const file = join(corpus, nameOf(input))
    if (!existsSync(file)) writeFileSync(file, input)
  }
}

/** Half of the time one of the newest. */
function chosen() {
  const { length } = inputs
  const newest = Math.min(length, 20)
  return /** @type {Buffer} */ (
    inputs[random.below(2) === 0 ? length - 1 - random.below(newest) : random.below(length)]
  )
}

/** @param {Buffer} input */
async function run(input) {
  input.copy(current)
  state[1] = input.length
  counters.fill(0, 0, size)
  try {
    const result = fuzz(input)
    if (result !== undefined) await result
    for (const name in {}) throw new Error(`an input has added "${name}" to all objects`)
  } catch (error) {
    found(error)
  }
  executions++
  Atomics.add(state, 0, 1)
}

function isNew() {
  let news = false
  for (let at = 0; at < size; at++) {
    const count = counters[at] ?? 0
    if (count === 0) continue
    const bit = 1 << Math.min(7, 32 - Math.clz32(count - 1))
    const before = reached[at] ?? 0
    if ((before & bit) !== 0) continue
    reached[at] = before | bit
    news = true
  }
  return news
}

/** @param {Buffer} input */
function nameOf(input) {
  return createHash('sha256').update(input).digest('hex').slice(0, 16)
}

function facts() {
  return { executions, reached: reached.reduce((sum, bits) => sum + (bits === 0 ? 0 : 1), 0), inputs: inputs.length }
}

/** @param {unknown} error */
function found(error) {
  parentPort?.postMessage({ ...facts(), failure: error instanceof Error ? error.stack : String(error) })
  process.exit(1)
}

function finish() {
  parentPort?.postMessage(facts())
  process.exit(0)
}
