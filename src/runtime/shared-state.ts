import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'
import { isSharedMemory } from './host.js'

/**
 * Memory that this thread shares with those that it starts from now on, and with the one that started it if that did the same before;
 * zero at first.
 */
export function sharedMemory(key: string, bytes: number): SharedArrayBuffer {
  const shared: unknown = getEnvironmentData(key)
  if (isSharedMemory(shared)) return shared
  const memory = new SharedArrayBuffer(bytes)
  setEnvironmentData(key, memory)
  return memory
}

const key = 'sluice:said'
const things = ['off', 'misspelt', 'inline'] as const

/**
 * Whether this is the first time in the process that a thing is to be said. Threads that were started before the first import of
 * `sluice` by the thread that started them count for themselves.
 */
export function firstInProcess(thing: (typeof things)[number]): boolean {
  return Atomics.exchange(saidFlags(), things.indexOf(thing), 1) === 0
}

/** See to it that a thing is not said in this process. */
export function leaveUnsaid(thing: (typeof things)[number]): void {
  Atomics.store(saidFlags(), things.indexOf(thing), 1)
}

/** Make the flags known to the workers that this thread will start. */
export function shareSaidFlags(): void {
  saidFlags()
}

let flags: Int32Array | undefined

function saidFlags(): Int32Array {
  flags ??= new Int32Array(sharedMemory(key, 4 * things.length))
  return flags
}

const places = 64
const quietS = 60

let memory: BigInt64Array | undefined

/** At each place a text's hash, and the second since 1970 in which it was told. */
function told(): BigInt64Array {
  memory ??= new BigInt64Array(sharedMemory('sluice:told', 8 * places))
  return memory
}

/** Make what was told known to the workers that this thread will start. */
export function shareTold(): void {
  told()
}

/**
 * Whether nobody in the process has told this within the last minute: several engines meet with the same trouble, each in a thread of
 * its own. Of two that ask at once one is told yes.
 */
export function isNews(text: string, now = Date.now()): boolean {
  const hash = hashOf(text)
  const second = BigInt(Math.floor(now / 1000))
  const place = Number(hash % BigInt(places))
  const before = Atomics.load(told(), place)
  const isOld = Math.abs(Number(second - (before & secondMask))) >= quietS
  if (before >> secondBits === hash && !isOld) return false
  return Atomics.compareExchange(told(), place, before, (hash << secondBits) | second) === before
}

const secondBits = 33n
const secondMask = (1n << secondBits) - 1n

/** FNV-1a, cut to 30 bits. */
function hashOf(text: string): bigint {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return BigInt(hash >>> 2)
}
