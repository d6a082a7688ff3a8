import { sharedMemory } from './shared-memory.js'

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
