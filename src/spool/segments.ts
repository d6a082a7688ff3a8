import type { Restored, Room } from '../delivery/store.js'
import type { Severity } from '../records/level.js'
import type { Clock, Timer } from '../runtime/clock.js'
import { type PlaceState, places, type Reread, type Segment } from './segment.js'

/** Where a record is. */
export interface Spot {
  readonly segment: Segment
  readonly number: number
}

/** What came of reading records back. */
interface TakenBack {
  readonly records: readonly Restored[]
  /** Records that the disk has no longer. */
  readonly lost: number
  /** Segments of which nothing is left. */
  readonly emptied: readonly Segment[]
  /** Why the disk gives back no more now; undefined when it did. */
  readonly error: unknown
}

/** The segments of an engine by severity, the oldest first. */
export class Segments {
  readonly #bySeverity: readonly Segment[][] = Array.from({ length: 7 }, () => [])

  add(segment: Segment): void {
    const chain = this.#bySeverity[segment.severity]!
    const after = chain.findLastIndex(({ lastAt }) => lastAt <= segment.lastAt)
    chain.splice(after + 1, 0, segment)
  }

  delete(segment: Segment): void {
    const chain = this.#bySeverity[segment.severity]!
    const index = chain.indexOf(segment)
    if (index !== -1) chain.splice(index, 1)
  }

  /** All of them, now. */
  list(): readonly Segment[] {
    return this.#bySeverity.flat()
  }

  /** The oldest of the least severe, of those that are no more severe than this. */
  leastWanted(most: Severity): Segment | undefined {
    for (let severity = 0; severity <= most; severity++) {
      const oldest = this.#bySeverity[severity]![0]
      if (oldest !== undefined) return oldest
    }
    return undefined
  }

  /** Read records of a lane that are in this place back into memory: the most severe first, the oldest within them. */
  takeBack({ lane, place, room }: { lane: number; place: PlaceState; room: Room }): TakenBack {
    const records: Restored[] = []
    const emptied: Segment[] = []
    let lost = 0
    let bytesLeft = room.bytes
    let error: unknown
    while (records.length < room.records && bytesLeft > 0) {
      const segment = this.#mostWanted(lane, place)
      if (segment === undefined) break
      const numbers = segment.oldest(place, { records: room.records - records.length, bytes: bytesLeft })
      let reread: readonly Reread[]
      try {
        reread = segment.read(numbers)
      } catch (reason) {
        error = reason
        break
      }
      for (const { number, line } of reread) {
        segment.move(number, line === undefined ? places.settled : places.memory)
        bytesLeft -= segment.bytesOf(number)
        if (line === undefined) lost++
        else {
          const { body, severity, idempotencyKey } = line
          const spot: Spot = { segment, number }
          records.push({ body, bytes: Buffer.byteLength(body), severity, idempotencyKey, place: spot })
        }
      }
      if (segment.settled) emptied.push(segment)
    }
    return { records, lost, emptied, error }
  }

  /** The oldest of the most severe in which records of a lane are in this place. */
  #mostWanted(lane: number, place: PlaceState): Segment | undefined {
    for (let severity = 6; severity >= 0; severity--) {
      const found = this.#bySeverity[severity]!.find((each) => each.lane === lane && each.count(place) > 0)
      if (found !== undefined) return found
    }
    return undefined
  }
}

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
