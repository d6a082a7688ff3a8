import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'
import { isSharedMemory } from './host.js'

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
  if (flags !== undefined) return flags
  const shared: unknown = getEnvironmentData(key)
  const memory = isSharedMemory(shared) ? shared : new SharedArrayBuffer(4 * things.length)
  if (memory !== shared) setEnvironmentData(key, memory)
  flags = new Int32Array(memory)
  return flags
}
