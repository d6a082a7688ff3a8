import type { Clock, Timer } from '../runtime/clock.js'
import type { Segment } from './segment.js'

/** Acknowledgements are gathered for this long: after a kill, what was delivered within it goes out again. */
const acknowledgeMs = 100

/** Segments of which records were settled that the disk does not know of yet. */
export class SettledSegments {
  readonly #clock: Clock
  readonly #due: () => void
  readonly #failed: (error: unknown) => void
  readonly #segments = new Set<Segment>()
  #timer: Timer | undefined

  /** @param plan `due` is called when it is time to acknowledge, `failed` with what the file system says against it */
  constructor(plan: {
    readonly clock: Clock
    readonly due: () => void
    readonly failed: (error: unknown) => void
  }) {
    this.#clock = plan.clock
    this.#due = plan.due
    this.#failed = plan.failed
  }

  add(segment: Segment): void {
    this.#segments.add(segment)
    this.#timer ??= this.#clock.schedule(this.#due, acknowledgeMs)
  }

  /** Say on disk what was settled; the answer are segments of which all is, so that they need no acknowledgement. Never throws. */
  acknowledge(): Segment[] {
    this.#timer?.cancel()
    this.#timer = undefined
    const whole: Segment[] = []
    for (const segment of this.#segments) {
      if (segment.settled) whole.push(segment)
      else if (!segment.gone) {
        try {
          segment.acknowledge()
        } catch (error) {
          // Said with the next ones, or never: then they go out again, with the same idempotency key.
          this.#failed(error)
          continue
        }
      }
      this.#segments.delete(segment)
    }
    return whole
  }
}
