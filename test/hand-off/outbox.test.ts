import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { HandOffAccount } from '../../src/hand-off/account.js'
import { Outbox, OutgoingText, ValueRing } from '../../src/hand-off/outbox.js'
import { settle, VirtualClock } from '../support/virtual-clock.js'

describe('the text of an outbox', () => {
  it('comes out as it went in, at any length, and a piece that was taken never changes', () => {
    const line = fc.tuple(fc.string({ unit: 'binary', maxLength: 20 }), fc.constantFrom(1, 300, 2000, 20_000))
    fc.assert(
      fc.property(fc.array(fc.array(line, { maxLength: 5 }), { maxLength: 12 }), (turns) => {
        const outgoing = new OutgoingText()
        const pieces = turns.map((lines) => {
          const texts = lines.map(([text, times]) => `${text.repeat(times)}\n`)
          for (const text of texts) outgoing.append(text)
          return { expected: texts.join(''), taken: outgoing.take() }
        })
        expect(outgoing.length).toBe(0)
        for (const { expected, taken } of pieces) expect(taken.equals(Buffer.from(expected))).toBe(true)
      }),
      { numRuns: 60 },
    )
  })
})

describe('the text of an outbox, whose memory was given back', () => {
  it('takes new text', () => {
    const outgoing = new OutgoingText()
    outgoing.append('before')
    const before = outgoing.take()
    outgoing.release()
    expect(outgoing.length).toBe(0)
    outgoing.append('after')
    expect(outgoing.take().toString()).toBe('after')
    expect(before.toString()).toBe('before')
  })

  it('is counted in characters until it is encoded, then in bytes', () => {
    const outgoing = new OutgoingText()
    outgoing.append('ü'.repeat(100))
    expect(outgoing.length).toBe(100)
    outgoing.append('x'.repeat(5000))
    expect(outgoing.length).toBe(5200)
  })
})

describe('the ring of values', () => {
  const drained = (ring: ValueRing) => {
    const values: [number, number][] = []
    ring.drain((event, ms) => values.push([event, ms]))
    return values
  }

  it('gives its values in order, and is empty then', () => {
    const ring = new ValueRing()
    const values = Array.from({ length: 5000 }, (_, number): [number, number] => [number, number * 2])
    for (const [event, ms] of values) expect(ring.push(event, ms)).toBe(true)
    expect(ring.length).toBe(5000)
    expect(drained(ring)).toEqual(values)
    expect(ring.length).toBe(0)
    expect(drained(ring)).toEqual([])
  })

  it('is half full at 32,768 values, and takes 65,536', () => {
    const ring = new ValueRing()
    for (let event = 0; event < 32_767; event++) ring.push(event, 0)
    expect(ring.halfFull).toBe(false)
    ring.push(0, 0)
    expect(ring.halfFull).toBe(true)
    for (let event = 32_768; event < 65_536; event++) expect(ring.push(event, 0)).toBe(true)
    expect(ring.push(1, 1)).toBe(false)
    expect(ring.length).toBe(65_536)
    expect(drained(ring)).toHaveLength(65_536)
    expect(ring.push(1, 1)).toBe(true)
  })

  it('takes values after its memory was given back', () => {
    const ring = new ValueRing()
    ring.push(1, 2)
    drained(ring)
    ring.release()
    expect(ring.push(3, 4)).toBe(true)
    expect(drained(ring)).toEqual([[3, 4]])
  })
})

function setUpOutbox({ maxBytes = 1_000_000, accepted: watch }: { maxBytes?: number; accepted?: () => boolean } = {}) {
  const clock = new VirtualClock()
  const sent: { readonly text: string; readonly records: number }[] = []
  const inTransit = { bytes: 0 }
  const dropped: string[] = []
  const lanes: number[] = []
  let accepted = 0
  const account = {
    laneOf: (kind: string) => (kind === 'logs' ? 0 : 1),
    accept(lane: number) {
      lanes.push(lane)
      accepted++
    },
    handOver() {
      const records = accepted
      accepted = 0
      return records
    },
    drop: (kind: string, reason: string) => void dropped.push(`${kind} ${reason}`),
  } as unknown as HandOffAccount
  const outbox = new Outbox({
    clock,
    account,
    maxBytes,
    inTransit: () => inTransit.bytes,
    fullReason: () => 'hand-off-full',
    accepted: watch,
    send(text, records) {
      sent.push({ text: text.toString(), records })
      inTransit.bytes += text.length
    },
  })
  return { clock, outbox, sent, lanes, inTransit, dropped }
}

describe('the watch of an outbox', () => {
  it('is told of the first record of a turn, if that is enough', async () => {
    const accepted = vi.fn(() => true)
    const { outbox } = setUpOutbox({ accepted })
    outbox.append('2a\n', 2)
    outbox.value(7, 8)
    expect(accepted).toHaveBeenCalledTimes(1)
    await settle()
    outbox.value(7, 8)
    outbox.append('2b\n', 2)
    expect(accepted).toHaveBeenCalledTimes(2)
  })

  it('is told of every record, if it asks for that', () => {
    const accepted = vi.fn(() => false)
    const { outbox } = setUpOutbox({ accepted })
    outbox.append('2a\n', 2)
    outbox.value(7, 8)
    outbox.append('2b\n', 2)
    expect(accepted).toHaveBeenCalledTimes(3)
  })

  it('is told of every record at the end, when a hand-over comes after many turns', () => {
    const accepted = vi.fn(() => true)
    const { outbox } = setUpOutbox({ accepted })
    outbox.ending()
    outbox.value(7, 8)
    outbox.value(7, 8)
    expect(accepted).toHaveBeenCalledTimes(2)
  })
})

describe('an outbox', () => {
  it('hands over once, after the code that logged, all that it logged', async () => {
    const { outbox, sent, lanes } = setUpOutbox()
    outbox.append('2a\n', 2)
    outbox.append('2b\n', 2)
    outbox.value(7, 8)
    expect(outbox.values).toBe(1)
    expect(sent).toEqual([])
    await settle()
    expect(sent).toEqual([{ text: '2a\n2b\nv7,8\n', records: 3 }])
    expect(lanes).toEqual([0, 0, 1])
    outbox.append('2c\n', 2)
    await settle()
    expect(sent.slice(1)).toEqual([{ text: '2c\n', records: 1 }])
    outbox.handOver()
    expect(sent).toHaveLength(2)
  })

  it('hands over at once beyond 32 KiB of lines, and 32,768 values', async () => {
    const { outbox, sent } = setUpOutbox()
    outbox.append(`2${'x'.repeat(32_767)}`, 2)
    expect(sent).toEqual([])
    outbox.append('2', 2)
    expect(sent).toHaveLength(1)
    for (let event = 0; event < 32_768; event++) outbox.value(event, 0)
    expect(sent).toHaveLength(1)
    outbox.value(0, 0)
    expect(sent.length).toBeGreaterThan(1)
    await settle()
    expect(sent.reduce((sum, { records }) => sum + records, 0)).toBe(2 + 32_769)
    expect(Math.max(...sent.map(({ text }) => text.length))).toBeLessThan(34_000)
  })

  it('waits 50 ms in a process that is about to end, and keeps it alive by no timer', async () => {
    const { clock, outbox, sent } = setUpOutbox()
    outbox.ending()
    outbox.append('2a\n', 2)
    outbox.append('2b\n', 2)
    outbox.value(1, 1)
    expect(clock.timers).toBe(1)
    await clock.advance(49)
    expect({ sent: sent.length, holding: clock.holding }).toEqual({ sent: 0, holding: 0 })
    await clock.advance(1)
    expect(sent).toHaveLength(1)
  })

  it.each([
    ['lines below error 80 %', 2, 800],
    ['lines from error on 90 %', 4, 900],
  ] as const)('lets %s of its room be filled, lines in transit included', async (_, severity, most) => {
    const { outbox, inTransit, dropped } = setUpOutbox({ maxBytes: 1000 })
    outbox.append('x'.repeat(300), severity)
    outbox.handOver()
    outbox.append('x'.repeat(most - 300), severity)
    expect(dropped).toEqual([])
    outbox.append('y', severity)
    expect(dropped).toEqual(['logs hand-off-full'])
    // The worker has taken some meanwhile.
    inTransit.bytes = 299
    outbox.append('y', severity)
    expect(dropped).toHaveLength(1)
    await settle()
  })

  it('takes values up to all of its room, and drops the others one by one', async () => {
    const { outbox, inTransit, dropped, sent } = setUpOutbox({ maxBytes: 1000 })
    outbox.append('x'.repeat(800), 2)
    outbox.handOver()
    // Ten frames of five bytes, and those behind them of six: 35 fill the rest.
    for (let event = 0; event < 50; event++) outbox.value(event, 1)
    await settle()
    expect(sent[1]!.records).toBe(35)
    expect(inTransit.bytes).toBe(1000)
    expect(dropped).toEqual(new Array(15).fill('values hand-off-full'))
  })

  it('hands over a value with a key behind the values that came before it', async () => {
    const { outbox, sent, lanes } = setUpOutbox()
    outbox.value(1, 1)
    outbox.keyedValue('i2,1,k\n')
    outbox.value(3, 1)
    await settle()
    expect(sent).toEqual([{ text: 'v1,1\ni2,1,k\nv3,1\n', records: 3 }])
    expect(lanes).toEqual([1, 1, 1])
  })

  it('takes values with keys up to all of its room, each with the bytes of its key', async () => {
    const { outbox, dropped, sent } = setUpOutbox({ maxBytes: 1000 })
    outbox.append('x'.repeat(800), 2)
    outbox.handOver()
    outbox.keyedValue('k'.repeat(200))
    outbox.keyedValue('k')
    await settle()
    expect(sent[1]).toEqual({ text: 'k'.repeat(200), records: 1 })
    expect(dropped).toEqual(['values hand-off-full'])
  })

  it('writes the style of a logger before its first line', async () => {
    const { outbox, sent } = setUpOutbox()
    const style = { messageKey: 'm' }
    outbox.append(outbox.frames.pino('{}', { style, severity: 2, arrivedAt: 5 }), 2)
    await settle()
    expect(sent[0]!.text).toBe('s0,{"messageKey":"m"}\np20,5,{}\n')
  })

  it('takes nothing from an empty ring', () => {
    const { outbox, sent } = setUpOutbox()
    outbox.handOver()
    expect(sent).toEqual([])
    outbox.release()
    expect(outbox.values).toBe(0)
  })
})
