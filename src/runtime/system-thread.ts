import { existsSync, readlinkSync } from 'node:fs'

/** The number that this thread has in the operating system; 0 where it does not tell. Only Linux does. */
export function systemThread(): number {
  try {
    return Number(/\d+$/.exec(readlinkSync('/proc/thread-self'))?.[0] ?? 0)
  } catch {
    return 0
  }
}

/** False when this thread of the process has ended. Always true where the system does not tell. */
export function systemThreadLives(thread: number): boolean {
  return thread === 0 || existsSync(`/proc/self/task/${thread}`)
}
