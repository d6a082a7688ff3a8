import type { DropReason } from '../delivery/ledger.js'
import type { Restored, Room } from '../delivery/store.js'
import type { Severity } from '../records/level.js'
import type { Clock, Timer } from '../runtime/clock.js'
import { type PlaceState, places, type Reread, type Segment } from './segment.js'

/** Where a record is. */
export interface Spot {
  readonly segment: Segment
  readonly number: number
}

/** The result of reading records back. */
interface TakenBack {
  readonly records: readonly Restored[]
  /** Records that the disk no longer has. */
  readonly lost: number
  /** Segments without records. */
  readonly emptied: readonly Segment[]
  /** Why the disk gives no more records now; undefined when it gave all. */
  readonly error: unknown
}

export interface SegmentsPlan {
  /** Bound of all files together. */
  readonly maxBytes: number
  readonly maxAgeMs: number
  readonly clock: Clock
  /** Called before a segment is removed: no line may be added to it. */
  readonly seal: (segment: Segment) => void
  /** Called after a segment was removed with the records in it. */
  readonly gaveUp: (segment: Segment, reason: DropReason) => void
  /** Called with the error of a file that cannot be removed. */
  readonly stuck: (error: unknown) => void
}

/** Of the files that cannot be removed, so many are tried again. */
const maxStuck = 1000

/** The segments of an engine by severity, the oldest first. Bounded in bytes and age: what does not fit is given up. */
export class Segments {
  readonly #plan: SegmentsPlan
  readonly #bySeverity: readonly Segment[][] = Array.from({ length: 7 }, () => [])
  /** Segments without records whose files could not be removed. */
  readonly #stuck = new Set<Segment>()
  #bytes = 0

  constructor(plan: SegmentsPlan) {
    this.#plan = plan
  }

  add(segment: Segment): void {
    const chain = this.#bySeverity[segment.severity]!
    const after = chain.findLastIndex(({ lastAt }) => lastAt <= segment.lastAt)
    chain.splice(after + 1, 0, segment)
    this.#bytes += segment.bytes
  }

  /** A record was added to one of the segments. */
  grew({ segment, number }: Spot): void {
    this.#bytes += segment.bytesOf(number)
  }

  /** Remove a segment with its file. Never throws. */
  remove(segment: Segment): void {
    this.#plan.seal(segment)
    if (segment.gone) return
    const fault = segment.remove()
    if (fault !== undefined) {
      this.#plan.stuck(fault)
      if (this.#stuck.size < maxStuck) this.#stuck.add(segment)
    }
    const chain = this.#bySeverity[segment.severity]!
    const index = chain.indexOf(segment)
    if (index !== -1) chain.splice(index, 1)
    this.#bytes -= segment.bytes
  }

  /** Try again to remove the files that could not be removed. Never throws. */
  removeStuck(): void {
    for (const segment of this.#stuck) if (segment.remove() === undefined) this.#stuck.delete(segment)
  }

  /** True when so many more bytes of this severity fit. To make room, the oldest of the least severe segments are given up. */
  makeRoom(severity: Severity, bytes: number): boolean {
    while (this.#bytes + bytes > this.#plan.maxBytes) {
      const segment = this.#leastWanted(severity)
      if (segment === undefined) return false
      this.#giveUp(segment, 'spool-full')
    }
    return true
  }

  giveUpOld(): void {
    const { clock, maxAgeMs } = this.#plan
    const now = clock.now()
    for (const segment of this.#bySeverity.flat()) {
      if (now - segment.lastAt > maxAgeMs) this.#giveUp(segment, 'too-old')
    }
  }

  giveUpAll(): void {
    for (const segment of this.#bySeverity.flat()) this.#giveUp(segment, 'spool-full')
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

  #giveUp(segment: Segment, reason: DropReason): void {
    this.remove(segment)
    this.#plan.gaveUp(segment, reason)
  }

  /** The oldest of the least severe segments that are at most this severe. */
  #leastWanted(most: Severity): Segment | undefined {
    for (let severity = 0; severity <= most; severity++) {
      const oldest = this.#bySeverity[severity]![0]
      if (oldest !== undefined) return oldest
    }
    return undefined
  }

  /** The oldest of the most severe segments in which records of a lane are in this place. */
  #mostWanted(lane: number, place: PlaceState): Segment | undefined {
    for (let severity = 6; severity >= 0; severity--) {
      const found = this.#bySeverity[severity]!.find((each) => each.lane === lane && each.count(place) > 0)
      if (found !== undefined) return found
    }
    return undefined
  }
}

/** Acknowledgements are gathered for this long. After a kill, records that were delivered within it are sent again. */
const acknowledgeMs = 100

interface SettledSegmentsPlan {
  readonly clock: Clock
  /** Called when it is time to acknowledge. */
  readonly due: () => void
  /** Called with an error of the file system. */
  readonly failed: (error: unknown) => void
}

/** Segments with settled records that have no acknowledgement on disk. */
export class SettledSegments {
  readonly #plan: SettledSegmentsPlan
  readonly #segments = new Set<Segment>()
  #timer: Timer | undefined

  constructor(plan: SettledSegmentsPlan) {
    this.#plan = plan
  }

  add(segment: Segment): void {
    this.#segments.add(segment)
    this.#timer ??= this.#plan.clock.schedule(this.#plan.due, acknowledgeMs)
  }

  /** Write the acknowledgements, and return the segments that need none, because all of their records are settled. Never throws. */
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
          // The next acknowledgement says it, or the records are sent again with the same idempotency keys.
          this.#plan.failed(error)
          continue
        }
      }
      this.#segments.delete(segment)
    }
    return whole
  }
}
