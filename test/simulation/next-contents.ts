import { gone, inFlight, ready, type Segment } from '../../src/log/segment.js'
import type { Delivery } from '../../src/next/delivery.js'
import type { Lane } from '../../src/next/lane.js'
import type { Contents } from './contents.js'

/** What the logs of a delivery hold. */
export function contentsOf({ lanes }: Delivery): Contents {
  const logs = () => lanes.flatMap(logsOf)
  return {
    walk: () => lanes.map(walked),
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
  return [...lane.logs, ...lane.adoptedLogs]
}

function walked(lane: Lane) {
  const found = { queued: 0, inFlight: 0, spooled: 0, heldBytes: 0 }
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
