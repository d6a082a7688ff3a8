import { gone, inFlight, type Segment, type SegmentLog, type State } from '../../src/log/segment.js'
import type { Severity } from '../../src/records/level.js'

/** A log in name only: it notes what is said of its segments. */
export class NotedLog implements SegmentLog {
  readonly lane = 0
  readonly severity: Severity
  readonly lost: number[] = []
  readonly told: string[] = []

  constructor(severity: Severity = 2) {
    this.severity = severity
  }

  takeOne(): void {}

  mark(segment: Segment, from: number, count: number, to: State): void {
    for (let index = from; index < from + count; index++) {
      segment.tally[segment.states[index] as State]--
      segment.tally[to]++
      segment.states[index] = to
    }
  }

  mayTake(): boolean {
    return true
  }

  lose(segment: Segment, from: number, count: number): void {
    for (let index = from; index < from + count; index++) this.lost.push(index)
    this.mark(segment, from, count, gone)
  }

  written(segment: Segment, to: number): void {
    segment.committed = to
  }

  seal(): void {
    this.told.push('seal')
  }

  evict(segment: Segment): number {
    segment.resident = segment.committed
    return segment.committed
  }

  forgetFile(_segment: Segment, reason: string): void {
    this.told.push(reason)
  }
}

/** Add a record with its bytes to a segment, as a log does. */
export function addRecord(segment: Segment, body: string, { sequence = segment.count, key = '' } = {}): void {
  const bytes = Buffer.from(key + body)
  const end = segment.at + bytes.length
  if (end > segment.memory.length) segment.memory = Buffer.concat([segment.memory, Buffer.alloc(end)])
  bytes.copy(segment.memory, segment.at)
  segment.add(Buffer.byteLength(body), sequence, key.length)
}

/** The bodies of records that are on disk alone, with their own keys before them; undefined for those that turn out to be lost. */
export function loadAll(segment: Segment): (string | undefined)[] {
  const indexes = [...segment.states.subarray(0, segment.count).keys()].filter(
    (index) => segment.states[index] !== gone,
  )
  const memory = Buffer.alloc(segment.end)
  for (const index of indexes) segment.log.mark(segment, index, 1, inFlight)
  if (segment.file!.load(Uint32Array.from(indexes), memory, 0) === 'later') throw new Error('the disk does not answer')
  let at = 0
  return indexes.map((index) => {
    const from = at
    at += segment.spanOf(index, 1)
    return segment.states[index] === gone ? undefined : memory.toString('utf8', from, at)
  })
}
