import type { Delivery } from '../../src/delivery/delivery.js'
import type { Lane } from '../../src/delivery/lane.js'
import type { Counts, Ledger } from '../../src/delivery/ledger.js'
import { gone, inFlight, ready, type Segment } from '../../src/log/segment.js'
import type { World } from './world.js'

/** The counts of a lane's records that are not settled, and the bytes of those in memory. */
export type Unsettled = Pick<Counts, (typeof walked)[number]>

const walked = ['queued', 'inFlight', 'spooled', 'heldBytes'] as const

/** What a delivery really has, beside what its ledger says. Asked between two events, while its thread lives. */
export interface Contents {
  /** By lane: what a walk over all of its records finds. */
  walk(): readonly Unsettled[]
  /** The buffers of all segments together. */
  memoryBytes(): number
  /** Logs that have a segment. */
  openLogs(): number
}

/** The contents of several deliveries with the same lanes. */
export function sumOfContents(all: readonly Contents[]): Contents {
  const sum = (count: (contents: Contents) => number) => all.reduce((total, each) => total + count(each), 0)
  return {
    walk: () =>
      all[0]!.walk().map((_, lane) => {
        const of = (name: (typeof walked)[number]) => sum((each) => each.walk()[lane]![name])
        return { queued: of('queued'), inFlight: of('inFlight'), spooled: of('spooled'), heldBytes: of('heldBytes') }
      }),
    memoryBytes: () => sum((each) => each.memoryBytes()),
    openLogs: () => sum((each) => each.openLogs()),
  }
}

/** A segment has at most so many bytes of bodies. */
const segmentBytes = 262_144

/** Checks that a delivery has what its ledger says, in no more memory than that needs. */
export function checkContents(world: World, { name, contents, ledger, inherits }: ContentsFacts): void {
  for (const [index, found] of contents.walk().entries()) {
    const lane = ledger.lanes[index]!
    for (const count of walked) {
      if (count === 'spooled' && (lane.state === 'closed' || (inherits && found.spooled <= lane.spooled))) continue
      if (found[count] === lane[count]) continue
      world.fail(`the ledger of ${name} counts ${lane[count]} ${count} in ${lane.kind}, and a walk ${found[count]}`)
    }
  }
  const bytes = contents.memoryBytes()
  const logs = contents.openLogs()
  // A segment may have survivors of which a compaction would free too little, and the last one of a log is not full.
  if (bytes <= ledger.heldBytes * (9 / 8) + segmentBytes * logs) return
  world.fail(`${name} has segments of ${bytes} bytes in ${logs} logs, for ${ledger.heldBytes} bytes of records`)
}

interface ContentsFacts {
  readonly name: string
  readonly contents: Contents
  readonly ledger: Ledger
  /** The ledger may count records on disk that an engine before has left, and this one has not found yet. */
  readonly inherits: boolean
}

/** What the logs of a delivery hold. */
export function contentsOf({ lanes }: Delivery): Contents {
  const logs = () => lanes.flatMap(logsOf)
  return {
    walk: () => lanes.map(walk),
    memoryBytes: () => logs().reduce((sum, log) => sum + sumOf(log.segments(), ({ memory }) => memory.length), 0),
    // Segments that are not made smaller now: the last one takes records, and what is in flight or goes out next stays where it is.
    openLogs: () =>
      logs().reduce((sum, log) => {
        const first = [...log.segments()].find(({ tally }) => tally[ready] > 0)
        const isOpen = (segment: Segment) =>
          segment.next === undefined || segment === first || segment.tally[inFlight] > 0
        return sum + sumOf(log.segments(), (segment) => Number(isOpen(segment)))
      }, 0),
  }
}

function logsOf(lane: Lane) {
  return [...lane.logs.all, ...lane.adopted.all]
}

function walk(lane: Lane) {
  const found = { queued: lane.unread, inFlight: 0, spooled: 0, heldBytes: 0 }
  for (const segment of logsOf(lane).flatMap((log) => [...log.segments()])) {
    for (let index = 0; index < segment.count; index++) {
      const state = segment.states[index]
      if (state === gone) continue
      if (state === inFlight) found.inFlight++
      else if (segment.isResident(index)) found.queued++
      else found.spooled++
      if (state === inFlight || segment.isResident(index)) found.heldBytes += segment.bytesOf(index)
    }
  }
  return found
}

function sumOf(segments: Iterable<Segment>, of: (segment: Segment) => number): number {
  let sum = 0
  for (const segment of segments) sum += of(segment)
  return sum
}
