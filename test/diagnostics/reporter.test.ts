import { describe, expect, it } from 'vitest'
import { ControlBlock } from '../../src/control/control-block.js'
import type { LaneReport } from '../../src/delivery/ledger.js'
import { Reporter } from '../../src/diagnostics/reporter.js'
import { systemClock } from '../../src/runtime/clock.js'
import { VirtualClock } from '../support/virtual-clock.js'

const lane = { kind: 'logs', bucket: 'b' } as const

/** A reporter that drops three records at the end, and the lines that it prints. */
function dropping({ toldBefore, toldAfter }: { toldBefore: boolean; toldAfter: boolean }) {
  const lines: string[] = []
  const end = ControlBlock.open(ControlBlock.memory())!
  if (toldBefore) end.tellByMain()
  const reporter = new Reporter({
    clock: systemClock,
    listeners: { error: () => {}, channel: () => {} },
    print: (text) => lines.push(text),
    end,
  })
  for (let count = 0; count < 3; count++) reporter.dropped(lane, { reason: 'shutdown', count: 1 })
  if (toldAfter) end.tellByMain()
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

describe('what comes within a minute of a line on stderr', () => {
  function reporting() {
    const lines: string[] = []
    const told: string[] = []
    const clock = new VirtualClock()
    const listeners = { error: ({ message }: Error) => void told.push(message), channel: () => {} }
    const reporter = new Reporter({ clock, listeners, print: (text) => lines.push(text) })
    return { lines, told, clock, reporter }
  }

  it('is counted and named in one more, whatever is wrong', async () => {
    const { lines, clock, reporter } = reporting()
    for (const name of ['one', 'two', 'three', 'four']) {
      reporter.misused('SLUICE_SPOOL', `segment ${name} is damaged`, name)
      await clock.advance(10)
    }
    await clock.advance(60_000)
    expect(lines).toEqual([
      'segment one is damaged',
      '3 reports: segment two is damaged; segment three is damaged; segment four is damaged',
    ])
  })

  it('is counted and named where the service refuses records for several reasons', async () => {
    const { lines, told, clock, reporter } = reporting()
    const reject = (reason: string) =>
      reporter.rejected(lane, { type: 'rejected', status: 400, reason, body: '{}', validationErrors: [] })
    reject('first')
    await clock.advance(10)
    for (const reason of ['level', 'message', 'level']) reject(reason)
    reporter.tellAll()
    const last = '3 log records rejected: level (2); message'
    expect(lines).toEqual(['1 log record rejected: first', last])
    expect(told).toEqual(lines)
  })

  it('takes no memory without end: beyond twenty kinds the others are counted', async () => {
    const { lines, clock, reporter } = reporting()
    for (let index = 0; index < 100; index++) reporter.misused('SLUICE_SPOOL', `report ${index}`, `${index}`)
    await clock.advance(1)
    expect(lines).toEqual([
      `100 reports: ${Array.from({ length: 20 }, (_, index) => `report ${index}`).join('; ')}; and 80 others`,
    ])
  })
})
