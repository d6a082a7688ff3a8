import { type Clock, queueMicrotask, setImmediate, systemClock } from './clock.js'

/** The loop that calls this code: its time, and its turns. A port, because at the end of a process there is a loop that is not Node's. */
export interface Loop extends Clock {
  /** Call `task` once the present one has returned, before anything else. */
  soon(task: () => void): void
  /** Call `task` in the next turn, behind whatever had come by now. */
  immediate(task: () => void): void
}

/** The event loop of this thread. */
export const systemLoop: Loop = {
  ...systemClock,
  soon: queueMicrotask,
  immediate: (task) => void setImmediate(task),
}
