import { hostProcess } from './host.js'
import { sharedMemory } from './shared-memory.js'

/** State of the process in memory that its threads share. */
const key = 'sluice:state.v2'
const news = 64
const once = ['off', 'misspelt', 'inline'] as const
const layout = { news: 0, once: 8 * news, capture: 8 * news + 4 * once.length }
const bytes = layout.capture + 4

/** A fact that concerns the whole process and is reported once. */
export type OnceReported = (typeof once)[number]

let words: ReturnType<typeof openWords> | undefined

function openWords() {
  const memory = sharedMemory(key, bytes)
  return {
    news: new BigInt64Array(memory, layout.news, news),
    once: new Int32Array(memory, layout.once, once.length),
    capture: new Int32Array(memory, layout.capture, 1),
  }
}

function state(): NonNullable<typeof words> {
  words ??= openWords()
  return words
}

/** Share the state with the threads that this thread starts from now on. */
export function shareState(): void {
  state()
}

/** True at the first call in the process. */
export function firstInProcess(fact: OnceReported): boolean {
  return Atomics.exchange(state().once, once.indexOf(fact), 1) === 0
}

/** Keep a fact from being reported in this process. */
export function leaveUnreported(fact: OnceReported): void {
  Atomics.store(state().once, once.indexOf(fact), 1)
}

/** True while a thread of the process captures records, for a test. */
export function isCapturing(): boolean {
  return Atomics.load(state().capture, 0) === 1
}

export function setCapturing(capturing: boolean): void {
  Atomics.store(state().capture, 0, capturing ? 1 : 0)
}

const { bun, deno } = process.versions as { bun?: string; deno?: string }
const hrtime = hostProcess.hrtime.bigint

/** Monotonic milliseconds, the same in all threads of the process. Bun's and Deno's `hrtime` has an origin in each thread. */
export const processNow: () => number =
  bun === undefined && deno === undefined
    ? () => Number(hrtime()) / 1e6
    : () => performance.timeOrigin + performance.now()

const quietS = 60

/**
 * True when no thread of the process has reported this text within the last minute. Of two threads that ask at the same time one gets
 * true.
 */
export function isNews(text: string, now = Date.now()): boolean {
  const hash = hashOf(text)
  const second = BigInt(Math.floor(now / 1000))
  const place = Number(hash % BigInt(news))
  const reported = state().news
  // Each place holds the hash of a text, and the second since 1970 in which it was reported.
  const before = Atomics.load(reported, place)
  const isOld = Math.abs(Number(second - (before & secondMask))) >= quietS
  if (before >> secondBits === hash && !isOld) return false
  return Atomics.compareExchange(reported, place, before, (hash << secondBits) | second) === before
}

const secondBits = 33n
const secondMask = (1n << secondBits) - 1n

/** FNV-1a, cut to 30 bits. */
function hashOf(text: string): bigint {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return BigInt(hash >>> 2)
}
