import { type Clock, queueMicrotask, setImmediate, systemClock } from './clock.js'

/** Where work goes on later: a port, so that delivery can run while the loop of Node has stopped. */
export interface Loop extends Clock {
  /** Call `task` when the work of this moment is done. */
  soon(task: () => void): void
  /** Call `task` in the next turn, after the events that have come. */
  immediate(task: () => void): void
}

/** The event loop of Node. */
export const systemLoop: Loop = { ...systemClock, soon: queueMicrotask, immediate: (task) => setImmediate(task) }
