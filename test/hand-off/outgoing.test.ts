import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { DropReason } from '../../src/delivery/ledger.js'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import type { Reporter } from '../../src/diagnostics/reporter.js'
import { HandOffAccount } from '../../src/hand-off/account.js'
import { Outgoing, refusal } from '../../src/hand-off/outgoing.js'
import type { TextHead } from '../../src/pipe/frame.js'
import { type FrameSink, PipeReader } from '../../src/pipe/pipe-reader.js'
import type { Severity } from '../../src/records/level.js'
import { calledBells, DirectBell } from '../support/bells.js'
import { runs } from '../support/full.js'
import { NotingSink, pipeOf } from '../support/pipe.js'
import { settle, VirtualClock } from '../support/virtual-clock.js'

const lanes = [
  { kind: 'logs', bucket: 'b' },
  { kind: 'values', bucket: 'b' },
] as const
const everything = Number.POSITIVE_INFINITY

/** A bell that is a call, and that knows how many listen. */
class CountedBell extends DirectBell {
  listeners = 0

  override heard(task: () => void): () => void {
    const stop = super.heard(task)
    this.listeners++
    return () => {
      this.listeners--
      stop()
    }
  }
}

/** Does not note the styles of loggers. */
class RecordSink extends NotingSink {
  override text(head: TextHead, memory: Buffer, from: number, end: number): void {
    if (head.kind !== 'style') super.text(head, memory, from, end)
  }
}

interface Setting {
  readonly sink?: NotingSink
  readonly maxBytes?: number
  readonly ringBytes?: number
  readonly accepted?: () => boolean
  readonly bells?: { readonly bell: DirectBell; readonly room: DirectBell }
}

function setUp({ maxBytes = 1_000_000, ringBytes, accepted, bells, sink = new RecordSink() }: Setting = {}) {
  const clock = new VirtualClock()
  const dropped: string[] = []
  const reporter = {
    dropped: ({ kind }: { kind: string }, { reason }: { reason: string }) => void dropped.push(`${kind} ${reason}`),
  } as unknown as Reporter
  const account = new HandOffAccount({ lanes, book: new LedgerBook(lanes), reporter, spools: false })
  const pipe = pipeOf(ringBytes)
  const room = new CountedBell()
  const used = bells ?? { bell: new DirectBell(), room }
  const state = { fullReason: 'hand-off-full' as DropReason, handedOver: 0 }
  const outgoing = new Outgoing({
    clock,
    pipe,
    bells: used,
    account,
    maxBytes,
    mostQuiet: { records: 3, bytes: 1000 },
    untaken: () => account.written - sink.taken()!,
    fullReason: () => state.fullReason,
    handedOver: () => void state.handedOver++,
    accepted,
  })
  const reader = new PipeReader(pipe, used)
  /** What the reader gets, of all that it sees. */
  const taken = (mostBytes = everything) => {
    reader.take(sink, mostBytes)
    return sink.got.splice(0)
  }
  /** Texts of lines, and numbers of values. */
  const seen = (mostBytes?: number) =>
    taken(mostBytes).map((sent) => (sent.kind === 'text' ? sent.text : sent.kind === 'unreadable' ? '?' : sent.eventId))
  const style = {}
  const line = (text: string, severity: Severity = 2) =>
    outgoing.line(text, { style, severity, arrivedAt: 0, below: false })
  return { clock, dropped, account, room, state, outgoing, pipe, reader, sink, taken, seen, line }
}

describe('the watch of what goes out', () => {
  it('is told of the first record of a turn, if that is enough', async () => {
    const accepted = vi.fn(() => true)
    const { outgoing, line } = setUp({ accepted })
    line('a')
    outgoing.value(7, 8)
    expect(accepted).toHaveBeenCalledTimes(1)
    await settle()
    outgoing.keyedValue({ eventId: 7, milliseconds: 8, key: 'k' })
    line('b')
    expect(accepted).toHaveBeenCalledTimes(2)
  })

  it('is told of every record, if it asks for that', () => {
    const accepted = vi.fn(() => false)
    const { outgoing, line } = setUp({ accepted })
    line('a')
    outgoing.value(7, 8)
    line('b')
    expect(accepted).toHaveBeenCalledTimes(3)
  })

  it('is told of every record at the end, when a hand-over comes after many turns', () => {
    const accepted = vi.fn(() => true)
    const { outgoing } = setUp({ accepted })
    outgoing.ending()
    outgoing.value(7, 8)
    outgoing.value(7, 8)
    expect(accepted).toHaveBeenCalledTimes(2)
  })

  it('is told of no record that is dropped', () => {
    const accepted = vi.fn(() => false)
    const { dropped, line } = setUp({ accepted, maxBytes: 1000 })
    line('x'.repeat(1000))
    expect([dropped, accepted.mock.calls]).toEqual([['logs hand-off-full'], []])
  })
})

describe('what goes out', () => {
  it('is handed over once, in the microtask after the code that logs, in its order', async () => {
    const { account, outgoing, seen, line, state } = setUp()
    line('a')
    outgoing.value(1, 5)
    line('b')
    outgoing.keyedValue({ eventId: 2, milliseconds: 5, key: 'k' })
    outgoing.value(3, 5)
    expect([seen(), state.handedOver, account.written]).toEqual([[], 0, 5])
    await Promise.resolve()
    expect([seen(), state.handedOver]).toEqual([['a', 1, 'b', 2, 3], 1])
    line('c')
    await Promise.resolve()
    expect([seen(), state.handedOver]).toEqual([['c'], 2])
    await settle()
    expect(state.handedOver).toBe(2)
  })

  it('is counted in the lanes of its kinds', () => {
    const { account, outgoing, line } = setUp()
    line('a')
    line('b')
    outgoing.value(1, 5)
    outgoing.value(1, 5)
    outgoing.keyedValue({ eventId: 2, milliseconds: 5, key: 'k' })
    expect(account.ledger().lanes.map(({ accepted, queued }) => [accepted, queued])).toEqual([
      [2, 2],
      [3, 3],
    ])
  })

  it('is shown to the worker before the code that logs has returned, beyond 32 KiB', async () => {
    const { outgoing, seen, line, state } = setUp()
    for (const sign of 'abc') line(sign.repeat(10_000))
    expect(seen()).toHaveLength(0)
    line('d'.repeat(10_000))
    expect(seen()).toHaveLength(3)
    // Values gather for longer.
    for (let eventId = 0; eventId < 2000; eventId++) outgoing.value(eventId, 0)
    expect(seen()).toHaveLength(0)
    expect(state.handedOver).toBe(0)
    await settle()
    expect(seen().at(-1)).toBe(1999)
    expect(state.handedOver).toBe(1)
  })

  it('waits 50 ms in a process that is about to end, and keeps it alive by no timer', async () => {
    const { clock, outgoing, seen, line } = setUp()
    outgoing.ending()
    line('a')
    line('b')
    outgoing.value(1, 1)
    expect(clock.timers).toBe(1)
    await clock.advance(49)
    expect([seen(), clock.holding]).toEqual([[], 0])
    await clock.advance(1)
    expect(seen()).toEqual(['a', 'b', 1])
    // A process that still turns lives on.
    line('c')
    expect(clock.timers).toBe(0)
    await settle()
    expect(seen()).toEqual(['c'])
  })

  it('is handed over at once when it is asked for, also in a process that is about to end', () => {
    const { outgoing, seen, line, state } = setUp()
    outgoing.ending()
    line('a')
    outgoing.handOver()
    expect([seen(), state.handedOver]).toEqual([['a'], 1])
  })

  it('has the style of a logger before its first line, once for each logger', async () => {
    const { outgoing, taken } = setUp({ sink: new NotingSink() })
    const styles = [{ messageKey: 'm' }, { messageKey: 'text' }] as const
    const about = { severity: 2, arrivedAt: 5 } as const
    for (const style of [styles[0], styles[1], styles[0]]) outgoing.line('{}', { style, ...about })
    await settle()
    const got = taken().map((sent) => (sent.kind === 'text' ? [sent.head.kind, sent.head.style, sent.text] : sent))
    expect(got).toEqual([
      ['style', 0, '{"messageKey":"m"}'],
      ['line', 0, '{}'],
      ['style', 1, '{"messageKey":"text"}'],
      ['line', 1, '{}'],
      ['line', 0, '{}'],
    ])
    expect(outgoing.styles).toEqual(styles.map((style) => JSON.stringify(style)))
  })
})

describe('the room for what goes out', () => {
  /** A line whose frame has 1000 bytes. */
  const thousand = 'x'.repeat(980)
  /** The frame of the style that comes before the first line. */
  const styleBytes = 24

  it.each([
    ['lines below error', 3, 8],
    ['lines from error on', 4, 9],
  ] as const)('may be filled by %s to their share', (_, severity, most) => {
    const { account, dropped, outgoing, line } = setUp({ maxBytes: 10_030 })
    for (let each = 0; each < most; each++) line(thousand, severity)
    expect(dropped).toEqual([])
    expect(outgoing.bytes).toBe(styleBytes + most * 1000)
    line(thousand, severity)
    line('y', severity)
    expect(dropped).toEqual(['logs hand-off-full', 'logs hand-off-full'])
    expect(account.written).toBe(most)
    expect(account.ledger()).toMatchObject({ accepted: most + 2, queued: most, dropped: { 'hand-off-full': 2 } })
  })

  it('is kept for errors beyond other lines, and for values beyond errors', () => {
    const { dropped, outgoing, line } = setUp({ maxBytes: 10_030 })
    for (let each = 0; each < 9; each++) line(thousand, 2)
    for (let each = 0; each < 2; each++) line(thousand, 4)
    expect(dropped).toEqual(['logs hand-off-full', 'logs hand-off-full'])
    for (let eventId = 0; eventId < 50; eventId++) outgoing.value(eventId, 1)
    expect(outgoing.bytes).toBe(styleBytes + 9000 + 41 * 24)
    expect(dropped.slice(2)).toEqual(new Array(9).fill('values hand-off-full'))
  })

  it('may be filled by values with keys, each with the bytes of its key', () => {
    const { dropped, outgoing } = setUp({ maxBytes: 1000 })
    outgoing.keyedValue({ eventId: 1, milliseconds: 1, key: 'k'.repeat(976) })
    expect([outgoing.bytes, dropped]).toEqual([1000, []])
    outgoing.keyedValue({ eventId: 2, milliseconds: 1, key: '' })
    expect(dropped).toEqual(['values hand-off-full'])
  })

  it('is there again as far as the worker has taken records, in the middle of a turn, too', () => {
    const { dropped, outgoing, seen, line } = setUp({ maxBytes: 10_030 })
    for (let each = 0; each < 9; each++) line(thousand)
    expect(dropped).toHaveLength(1)
    outgoing.handOver()
    expect(seen(2000)).toHaveLength(2)
    for (let each = 0; each < 3; each++) line(thousand)
    expect(dropped).toHaveLength(2)
    expect(outgoing.bytes).toBe(8000)
  })

  it('is gone for the reason that is asked for at each drop', () => {
    const { dropped, outgoing, state } = setUp({ maxBytes: 1000 })
    for (let eventId = 0; eventId < 41; eventId++) outgoing.value(eventId, 1)
    expect(dropped).toEqual([])
    outgoing.value(1, 1)
    state.fullReason = 'worker-failed'
    outgoing.value(1, 1)
    expect(dropped).toEqual(['values hand-off-full', 'values worker-failed'])
  })

  it('is bounded in bytes, whatever the characters', () => {
    for (const text of ['', 'x', 'é', '€', '😀'].map((character) => character.repeat(100))) {
      const { dropped, outgoing, line } = setUp({ maxBytes: 100_000 })
      while (dropped.length === 0) line(text)
      expect(outgoing.bytes).toBeLessThanOrEqual(80_500)
      expect(outgoing.bytes).toBeGreaterThan(79_500)
    }
  })
})

describe('a record at which a worker stops', () => {
  class Death extends Error {}
  /** A sink that dies of each record, unless it has a way of its own. */
  const dyingSink = (ledger: NotingSink, own: Partial<FrameSink> = {}): FrameSink => {
    const dies = () => {
      throw new Death()
    }
    return { taken: () => ledger.taken(), value: dies, keyed: dies, text: dies, unreadable: dies, ...own }
  }

  it.each(['values', 'keyed values', 'logs'] as const)('is given up, one of %s, and the others are not', (kind) => {
    const { outgoing, pipe, reader, seen, sink, line } = setUp()
    const write = (eventId: number) => {
      if (kind === 'values') outgoing.value(eventId, 1)
      else if (kind === 'logs') line(String(eventId))
      else outgoing.keyedValue({ eventId, milliseconds: 1, key: 'k' })
    }
    // The style of the logger goes before its first line.
    if (kind === 'logs') line('0')
    outgoing.handOver()
    reader.take(sink, everything)
    sink.got.splice(0)
    const place = pipe.get('read')
    for (const eventId of [1, 2]) write(eventId)
    outgoing.handOver()
    expect(outgoing.taking).toBe(undefined)
    expect(() => reader.take(dyingSink(sink), everything)).toThrow(Death)
    expect(outgoing.taking).toBe(place)
    expect(outgoing.giveUpLine(sink)).toBe(kind === 'logs' ? 'logs' : 'values')
    expect(outgoing.taking).toBe(undefined)
    expect(outgoing.giveUpLine(sink)).toBe(undefined)
    expect(seen()).toEqual(kind === 'logs' ? ['2'] : [2])
  })

  it('is no more given up once the ledger has counted it', () => {
    const { outgoing, reader, seen, sink } = setUp()
    for (const eventId of [1, 2]) outgoing.value(eventId, 1)
    outgoing.handOver()
    const value = (eventId: number, ms: number) => {
      sink.value(eventId, ms)
      throw new Death()
    }
    expect(() => reader.take(dyingSink(sink, { value }), everything)).toThrow(Death)
    expect(outgoing.giveUpLine(sink)).toBe(undefined)
    expect(seen()).toEqual([1, 2])
  })

  it('may be no record, but the style of a logger', () => {
    const { outgoing, reader, seen, sink } = setUp()
    outgoing.line('{}', { style: {}, severity: 2, arrivedAt: 1 })
    outgoing.handOver()
    expect(() => reader.take(dyingSink(sink), everything)).toThrow(Death)
    expect(outgoing.giveUpLine(sink)).toBe(undefined)
    expect(seen()).toEqual(['{}'])
  })

  it('may be a part of a long line, whose end is counted by the next worker', () => {
    const { outgoing, pipe, reader, seen, sink, line } = setUp({ ringBytes: 4096 })
    line('first')
    outgoing.handOver()
    reader.take(sink, everything)
    sink.got.splice(0)
    const place = pipe.get('read')
    line('x'.repeat(2000))
    line('the next')
    outgoing.handOver()
    // As a thread leaves it that ends within the part.
    pipe.set('taken', 1)
    pipe.set('busy', place + 1)
    expect(outgoing.taking).toBe(place)
    expect(outgoing.giveUpLine(sink)).toBe(undefined)
    expect(seen()).toEqual(['?', 'the next'])
  })
})

describe('all that no worker takes', () => {
  it('goes to a sink in this thread, what has no room in the ring, too', () => {
    const { outgoing, room, sink, line } = setUp({ ringBytes: 4096 })
    const lines = Array.from({ length: 30 }, (_, number) => `${number} ${'x'.repeat(500)}`)
    for (const text of lines) line(text)
    outgoing.handOver()
    line('not handed over')
    expect(room.listeners).toBe(1)
    outgoing.takeAll(sink)
    expect(sink.got.map((sent) => sent.kind === 'text' && sent.text)).toEqual([...lines, 'not handed over'])
    expect([outgoing.bytes, room.listeners]).toEqual([0, 0])
  })

  it('is counted by its kind after the end', () => {
    const refused: string[] = []
    const sink = refusal((kind) => void refused.push(kind))
    sink.value(1, 1)
    sink.keyedValue({ eventId: 1, milliseconds: 1, key: 'k' })
    sink.line('{}', { style: {}, severity: 2, arrivedAt: 1 })
    expect(refused).toEqual(['values', 'values', 'logs'])
  })
})

describe('what has no room in the ring', () => {
  const ringBytes = 4096
  const lines = Array.from({ length: 20 }, (_, number) => `${number} ${'x'.repeat(500)}`)

  it('follows as the worker takes records, without another hand-over', () => {
    const { room, outgoing, seen, line, state } = setUp({ ringBytes })
    for (const text of lines) line(text)
    outgoing.handOver()
    expect(room.listeners).toBe(1)
    const got = seen()
    expect(got.length).toBeLessThan(10)
    // A hand-over meanwhile changes nothing.
    outgoing.handOver()
    expect(room.listeners).toBe(1)
    for (let turn = 0; turn < 10; turn++) got.push(...seen())
    expect(got).toEqual(lines)
    expect([room.listeners, state.handedOver, outgoing.bytes]).toEqual([0, 2, 0])
  })

  it('is all that listens for room', () => {
    const { room, outgoing, seen, line } = setUp({ ringBytes })
    line('x')
    outgoing.handOver()
    seen()
    expect(room.listeners).toBe(0)
  })

  it('follows, though the room came just before anybody listened', () => {
    const room = new CountedBell()
    const early = Object.assign(new DirectBell(), {
      ring: () => room.ring(),
      wait: () => false,
      heard: (task: () => void) => {
        got.push(...seen())
        return room.heard(task)
      },
    })
    const { outgoing, seen, line } = setUp({ ringBytes, bells: { bell: new DirectBell(), room: early } })
    const got: unknown[] = []
    for (const text of lines.slice(0, 10)) line(text)
    outgoing.handOver()
    got.push(...seen())
    expect(got).toEqual(lines.slice(0, 10))
    expect(room.listeners).toBe(0)
  })

  it('follows again and again', async () => {
    const { account, room, seen, line } = setUp({ ringBytes })
    for (let round = 0; round < 3; round++) {
      for (const text of lines) line(text)
      await settle()
      const got: unknown[] = []
      for (let turn = 0; turn < 10; turn++) got.push(...seen())
      expect(got).toEqual(lines)
      expect(room.listeners).toBe(0)
    }
    expect(account.written).toBe(3 * lines.length)
  })

  it('stays where it is when nobody takes it any more', () => {
    const { room, outgoing, seen, line } = setUp({ ringBytes })
    for (const text of lines) line(text)
    outgoing.handOver()
    outgoing.end()
    outgoing.end()
    expect(room.listeners).toBe(0)
    expect(seen().length).toBeGreaterThan(0)
    expect(seen()).toEqual([])
    expect(outgoing.bytes).toBeGreaterThan(5000)
  })

  it('is pushed while this thread is held, as the worker makes room', () => {
    const got: unknown[] = []
    const pipeBells = calledBells(() => got.push(...seen(1000)))
    const words = new Int32Array(new SharedArrayBuffer(8))
    const bells = { bell: pipeBells(words, 0) as DirectBell, room: pipeBells(words, 1) as DirectBell }
    const { outgoing, seen, line } = setUp({ ringBytes, bells })
    for (const text of lines) line(text)
    expect(outgoing.push(60_000)).toBe(true)
    got.push(...seen())
    expect(got).toEqual(lines)
  })

  it('is not pushed where the worker makes no room', () => {
    const { outgoing, seen, line } = setUp({ ringBytes })
    for (const text of lines.slice(0, 2)) line(text)
    expect(outgoing.push(0)).toBe(true)
    expect(seen()).toEqual(lines.slice(0, 2))
    for (const text of lines) line(text)
    expect(outgoing.push(0)).toBe(false)
    expect(seen().length).toBeGreaterThan(0)
  })

  it('is neither lost nor doubled, whatever both ends do', async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ text: fc.constantFrom('', 'ab', 'é', '😀'), times: fc.nat(700) }) },
      { weight: 3, arbitrary: fc.constantFrom('value', 'keyed', 'hand over', 'push', 'take', 'turn', 'ending') },
      { weight: 2, arbitrary: fc.nat(2000) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const { account, clock, dropped, outgoing, seen, line } = setUp({ ringBytes, maxBytes: 12_000 })
        const written: unknown[] = []
        const got: unknown[] = []
        let tried = 0
        const write = (record: unknown, work: () => void) => {
          const before = account.written
          work()
          tried++
          if (account.written > before) written.push(record)
        }
        for (const step of steps) {
          if (typeof step === 'number') got.push(...seen(step))
          else if (typeof step === 'object') {
            const text = `${tried} ${step.text.repeat(step.times)}`
            write(text, () => line(text))
          } else if (step === 'value') write(tried, () => outgoing.value(tried, 1))
          else if (step === 'keyed') {
            write(tried, () => outgoing.keyedValue({ eventId: tried, milliseconds: 1, key: 'k'.repeat(50) }))
          } else if (step === 'hand over') outgoing.handOver()
          else if (step === 'push') outgoing.push(0)
          else if (step === 'take') got.push(...seen())
          else if (step === 'turn') await settle()
          else outgoing.ending()
        }
        expect(dropped).toHaveLength(tried - written.length)
        await clock.advance(50)
        for (let left = outgoing.bytes; left > 0; left = outgoing.bytes) {
          got.push(...seen())
          expect(outgoing.bytes).toBeLessThan(left)
        }
        expect(got).toEqual(written)
      }),
      { numRuns: runs({ some: 60, all: 3000 }) },
    )
  })
})

describe('the bell of the worker', () => {
  class RungBell extends DirectBell {
    rings = 0

    override ring(): void {
      this.rings++
      super.ring()
    }
  }

  function setUpRung() {
    const bell = new RungBell()
    return { bell, ...setUp({ bells: { bell, room: new DirectBell() } }) }
  }

  it('rings for a worker that rests, and not for one that will look', async () => {
    const { bell, outgoing, reader, seen } = setUpRung()
    outgoing.value(1, 0)
    await settle()
    expect(bell.rings).toBe(0)
    expect(seen()).toEqual([1])
    expect(reader.rest()).toBe(true)
    outgoing.value(2, 0)
    await settle()
    expect(bell.rings).toBe(1)
    expect(seen()).toEqual([2])
    reader.stay()
    outgoing.value(3, 0)
    await settle()
    expect(bell.rings).toBe(1)
    // It came before the rest: the worker looks at it at once.
    expect(reader.rest()).toBe(false)
    expect(seen()).toEqual([3])
  })

  it('rings where many records wait', async () => {
    const { bell, outgoing } = setUpRung()
    for (const each of [1, 2, 3, 4]) {
      outgoing.value(each, 0)
      await settle()
    }
    expect(bell.rings).toBe(1)
  })

  it('rings where many bytes wait', async () => {
    const { bell, line } = setUpRung()
    line('x'.repeat(2000))
    await settle()
    expect(bell.rings).toBe(1)
  })

  it('rings at the hand-over of a drain', async () => {
    const { bell, outgoing } = setUpRung()
    outgoing.value(1, 0)
    outgoing.handOver()
    expect(bell.rings).toBe(1)
  })
})
