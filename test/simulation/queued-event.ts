import type { SimulatedThread } from './simulated-thread.js'

/** Something that happens at a moment. */
export interface QueuedEvent {
  /** Changes when the thread cannot run it in time. */
  at: number
  readonly task: () => void
  /** The thread that runs it; undefined for an event of the world. */
  readonly thread: SimulatedThread | undefined
  cancelled: boolean
}
