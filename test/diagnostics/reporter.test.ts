import { expect, it } from 'vitest'
import type { LaneReport } from '../../src/delivery/ledger.js'
import { Reporter } from '../../src/diagnostics/reporter.js'
import { systemClock } from '../../src/runtime/clock.js'

const lane = { kind: 'logs', bucket: 'b' } as const

/** A reporter that drops three records at the end, and the lines that it prints. */
function dropping({ toldBefore, toldAfter }: { toldBefore: boolean; toldAfter: boolean }) {
  const lines: string[] = []
  let told = toldBefore
  const reporter = new Reporter({
    clock: systemClock,
    listeners: { error: () => {}, channel: () => {} },
    print: (text) => lines.push(text),
    isToldByMain: () => told,
  })
  for (let count = 0; count < 3; count++) reporter.dropped(lane, { reason: 'shutdown', count: 1 })
  told = toldAfter
  reporter.ended([{ ...lane, dropped: { shutdown: 3 } } as LaneReport])
  return lines
}

const line = '3 log records dropped (shutdown): not delivered before the end'

it.each([
  { toldBefore: false, toldAfter: false, printed: [line] },
  { toldBefore: true, toldAfter: true, printed: [] },
  // The main thread reads what is dropped once it has said that it tells the rest.
  { toldBefore: false, toldAfter: true, printed: [line] },
])('losses at the end are told by one of two threads: $toldBefore, then $toldAfter', ({ printed, ...told }) => {
  expect(dropping(told)).toEqual(printed)
})
