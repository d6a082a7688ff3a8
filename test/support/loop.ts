import { type Clock, queueMicrotask, setImmediate } from '../../src/runtime/clock.js'
import type { Loop } from '../../src/runtime/loop.js'

/** The loop of Node, with the time of a test. */
export function loopOver(clock: Clock): Loop {
  return {
    now: () => clock.now(),
    schedule: (task, delayMs, keepAlive) => clock.schedule(task, delayMs, keepAlive),
    soon: queueMicrotask,
    immediate: (task) => void setImmediate(task),
  }
}
