import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { controlBytes, word } from '../../src/control/control-block.js'
import { dropReasons, suppressReasons } from '../../src/delivery/ledger.js'
import { type Head, LedgerBook, type Origin } from '../../src/delivery/ledger-book.js'
import { addsUp } from '../support/delivery.js'

it('adds up for a reader while its writer is interrupted in the middle of a change', () => {
  const book = new LedgerBook([{ kind: 'logs', bucket: 'b' }])
  book.move(0, 'none', 'queued', 1, 10)
  const reader = new LedgerBook([{ kind: 'logs', bucket: 'b' }], book.memory)
  const memory = new Float64Array(book.memory, controlBytes)
  const before = memory.slice()
  book.move(0, 'queued', 'inFlight', 1, 0)
  const after = memory.slice()
  const changed = [...after.keys()].filter((index) => after[index] !== before[index])
  memory.set(before)
  // Odd: a change is under way.
  new Int32Array(book.memory)[word.sequence] = 3
  // Every state between the two: each field is written after the one before.
  for (const index of changed) {
    memory[index] = after[index]!
    expect(addsUp(reader.read())).toBe(true)
  }
})

it('is the same before and after for a reader whose writer loses its processor in the middle of a change', async () => {
  const book = new LedgerBook([{ kind: 'logs', bucket: 'b' }])
  const before = new Float64Array(book.memory, controlBytes).slice()
  book.move(0, 'taken', 'queued', 1, 10)
  const rows = new Float64Array(book.memory, controlBytes)
  const after = rows.slice()
  rows.set(before)
  // The number is odd, and one field is written. The other ones follow some milliseconds later, in another thread.
  const sequence = new Int32Array(book.memory, 4 * word.sequence, 1)
  const first = after.findIndex((value, index) => value !== before[index])
  rows[first] = after[first]!
  const writer = new Worker(
    `const { memory, after, sequenceAt, rowsAt } = require('node:worker_threads').workerData
    const sequence = new Int32Array(memory, sequenceAt, 1)
    Atomics.store(sequence, 0, 3)
    Atomics.notify(sequence, 0)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    new Float64Array(memory, rowsAt).set(after)
    Atomics.store(sequence, 0, 4)`,
    { eval: true, workerData: { memory: book.memory, after, sequenceAt: 4 * word.sequence, rowsAt: controlBytes } },
  )
  Atomics.wait(sequence, 0, 2, 10_000)
  const { ledger, taken } = book.copy()
  expect({ accepted: ledger.accepted, taken }).toEqual({ accepted: 1, taken: [1] })
  await once(writer, 'exit')
})

describe('a ledger whose writer is gone', () => {
  const held = () => {
    const book = new LedgerBook([{ kind: 'logs', bucket: 'b' }])
    for (let record = 0; record < 5; record++) book.move(0, 'none', 'queued', 1, 10)
    book.move(0, 'queued', 'inFlight', 1, 0)
    book.count(0, 'onDisk', 3)
    return book
  }

  it('counts records on disk as spooled, and none that the store has only gathered', () => {
    expect(held().ended({ spools: true })).toMatchObject({
      spooled: 3,
      dropped: { shutdown: 2 },
      queued: 0,
      inFlight: 0,
    })
    expect(held().ended({ spools: false })).toMatchObject({ spooled: 0, dropped: { shutdown: 5 } })
  })

  it('goes on with the next writer from there', () => {
    const book = held()
    expect(book.abandon('worker-failed', { spools: true })).toEqual([{ lost: 2, spooled: 3 }])
    book.move(0, 'none', 'queued', 1, 10)
    expect(book.read()).toMatchObject({ accepted: 6, spooled: 3, queued: 1, dropped: { 'worker-failed': 2 } })
    expect(addsUp(book.read())).toBe(true)
  })

  it('counts no record again that the next writer finds on disk', () => {
    const book = held()
    book.abandon('worker-failed', { spools: true })
    book.move(0, 'adopted', 'spooled', 2, 0)
    expect(book.read()).toMatchObject({ accepted: 5, adopted: 0, spooled: 3 })
    // One more than were left: another engine's.
    book.move(0, 'adopted', 'spooled', 2, 0)
    expect(book.read()).toMatchObject({ accepted: 6, adopted: 1, spooled: 4 })
    expect(addsUp(book.read())).toBe(true)
  })

  it('counts no record again that two writers have left one after another', () => {
    const book = held()
    book.abandon('worker-failed', { spools: true })
    book.move(0, 'none', 'queued', 1, 10)
    book.count(0, 'onDisk', 1)
    book.abandon('worker-failed', { spools: true })
    book.move(0, 'adopted', 'spooled', 4, 0)
    expect(book.read()).toMatchObject({ accepted: 6, adopted: 0, spooled: 4 })
  })
})

describe('a ledger', () => {
  const lanes = [
    { kind: 'logs', bucket: 'b' },
    { kind: 'values', bucket: 'c' },
  ] as const

  it('counts what happens to each record, in the lane of the record', () => {
    const book = new LedgerBook(lanes)
    for (let record = 0; record < 6; record++) book.move(1, record < 4 ? 'taken' : 'none', 'queued', 1, 10)
    book.move(1, 'queued', 'inFlight', 1, 0)
    book.move(1, 'queued', 'inFlight', 1, 0)
    book.count(1, 'retries', 1)
    book.move(1, 'queued', 'inFlight', 1, 0)
    book.move(1, 'inFlight', 'delivered', 1, 10)
    book.move(1, 'inFlight', 'rejected', 1, 10)
    book.move(1, 'inFlight', 'queued', 1, 0)
    book.count(1, 'ambiguousRetries', 1)
    book.move(1, 'queued', 'queue-full', 1, 10)
    book.move(1, 'queued', 'spooled', 1, 10)
    book.move(1, 'queued', 'spooled', 1, 10)
    book.move(1, 'spooled', 'queued', 1, 10)
    book.move(1, 'adopted', 'spooled', 5, 0)
    book.move(1, 'spooled', 'too-old', 2, 0)
    const [logs, values] = book.read().lanes
    expect(values).toMatchObject({
      ...{ accepted: 11, delivered: 1, rejected: 1, spooled: 4, queued: 2, inFlight: 0, adopted: 5 },
      ...{ requests: 3, retries: 1, ambiguousRetries: 1, heldBytes: 20, deliveredBytes: 10, bucket: 'c' },
      dropped: { 'queue-full': 1, 'too-old': 2 },
    })
    expect(logs).toMatchObject({ accepted: 0, queued: 0, spooled: 0, bucket: 'b', lastError: undefined })
    expect(book.taken).toBe(4)
    expect(book.copy()).toMatchObject({ taken: [0, 4], onDisk: [0, 0] })
    expect(addsUp(book.read())).toBe(true)
  })

  it('adds up after every move, and derives from it what else is counted', () => {
    const origins: readonly Origin[] = ['none', 'taken', 'adopted']
    const heads: readonly Head[] = [
      ...(['queued', 'inFlight', 'spooled', 'delivered', 'rejected'] as const),
      ...[...dropReasons, ...suppressReasons],
    ]
    const inMemory = (head: Head | Origin) => head === 'queued' || head === 'inFlight'
    const moves = fc.array(
      fc.record({
        origin: fc.constantFrom(...origins),
        /** The record that moves; a new one where there is none at that place. */
        which: fc.nat(8),
        to: fc.constantFrom(...heads),
        bytes: fc.nat(100),
        onDisk: fc.boolean(),
      }),
    )
    fc.assert(
      fc.property(moves, (each) => {
        const book = new LedgerBook(lanes)
        const records: { head: Head; bytes: number; onDisk: boolean }[] = []
        const sum = { accepted: 0, adopted: 0, requests: 0, deliveredBytes: 0, keptForError: 0 }
        let taken = 0
        for (const { origin, which, to, bytes, onDisk } of each) {
          const record = records[which] ?? { head: origin as Head, bytes, onDisk }
          const from: Head | Origin = record.head
          if (records[which] === undefined) {
            records.push(record)
            sum.accepted++
            if (origin === 'adopted') sum.adopted++
            if (origin === 'taken') taken++
          }
          if (to === 'inFlight') sum.requests++
          if (to === 'delivered') sum.deliveredBytes += record.bytes
          if (from === 'unneeded') sum.keptForError--
          record.head = to
          book.move(1, from, to, 1, record.bytes, Number(record.onDisk))
          const held = records.filter(({ head }) => inMemory(head))
          const report = book.read().lanes[1]!
          const counts = { ...report, ...report.dropped, ...report.suppressed }
          expect(addsUp(book.read())).toBe(true)
          for (const head of heads) expect(counts[head]).toBe(records.filter((one) => one.head === head).length)
          expect(report).toMatchObject({ ...sum, heldBytes: held.reduce((all, one) => all + one.bytes, 0) })
          expect(book.copy()).toMatchObject({ taken: [0, taken], onDisk: [0, held.filter((one) => one.onDisk).length] })
        }
      }),
    )
  })

  it('counts records that are sent once more as requests, and leaves them in flight', () => {
    const book = new LedgerBook(lanes)
    book.move(0, 'none', 'inFlight', 3, 30, 2)
    book.move(0, 'inFlight', 'inFlight', 2, 0)
    expect(book.read()).toMatchObject({ accepted: 3, inFlight: 3, requests: 5, heldBytes: 30 })
    expect(book.copy().onDisk).toEqual([2, 0])
  })

  it('counts what is said of records, and moves none of them', () => {
    const book = new LedgerBook(lanes)
    book.move(0, 'none', 'unneeded', 2, 0)
    for (const name of ['retries', 'ambiguousRetries', 'redacted', 'onDisk', 'keptForError'] as const) {
      book.count(0, name, 3)
      book.count(0, name, -1)
    }
    expect(book.read()).toMatchObject({ retries: 2, ambiguousRetries: 2, redacted: 2, keptForError: 2 })
    expect(book.copy().onDisk).toEqual([2, 0])
    book.move(0, 'unneeded', 'queued', 1, 10)
    expect(book.read()).toMatchObject({ accepted: 2, queued: 1, keptForError: 1, suppressed: { unneeded: 1 } })
  })

  it('knows the records of all lanes that are queued or in flight', () => {
    const book = new LedgerBook(lanes)
    for (const lane of [0, 1, 1]) book.move(lane, 'none', 'queued', 1, 1)
    book.move(1, 'queued', 'inFlight', 1, 0)
    expect(book.remaining).toBe(3)
    book.move(1, 'inFlight', 'delivered', 1, 1)
    expect(book.remaining).toBe(2)
  })

  it('keeps the last error of each lane, cut to what fits', () => {
    const book = new LedgerBook(lanes)
    book.lastError(0, 'grüße')
    expect(book.read().lanes.map(({ lastError }) => lastError)).toEqual(['grüße', undefined])
    book.lastError(0, 'x'.repeat(1000))
    expect(book.read().lanes[0]!.lastError).toHaveLength(512)
  })

  it('gives copies that later changes do not touch', () => {
    const book = new LedgerBook(lanes)
    const before = book.copy()
    book.move(0, 'taken', 'queued', 1, 1)
    expect(before).toMatchObject({ ledger: { accepted: 0 }, taken: [0, 0] })
  })

  it('is read as it was before a change that begins while a copy is made', () => {
    const book = new LedgerBook(lanes.slice(0, 1))
    book.move(0, 'none', 'queued', 1, 1)
    const reader = new LedgerBook(lanes.slice(0, 1), book.memory)
    const { load } = Atomics
    let looks = 0
    // The writer moves the record between the two looks of the reader's first copy.
    Atomics.load = ((words: Int32Array, index: number) => {
      if (++looks === 2) book.move(0, 'queued', 'inFlight', 1, 0)
      return load(words, index)
    }) as typeof load
    try {
      expect(reader.read()).toMatchObject({ accepted: 1, queued: 0, inFlight: 1 })
    } finally {
      Atomics.load = load
    }
    expect(looks).toBe(4)
  })

  it('goes on after a writer that died in the middle of a change, and after one that did not', () => {
    for (const inTheMiddle of [true, false]) {
      const book = new LedgerBook(lanes.slice(0, 1))
      book.move(0, 'none', 'queued', 1, 10)
      const words = new Int32Array(book.memory, 4 * word.sequence, 1)
      if (inTheMiddle) words[0]!++
      expect(book.abandon('worker-failed', { spools: false })).toEqual([{ lost: 1, spooled: 0 }])
      expect(words[0]! % 2).toBe(0)
      expect(book.read()).toMatchObject({ queued: 0, heldBytes: 0, dropped: { 'worker-failed': 1 } })
    }
  })

  it('of a thread that is gone shows its lanes as closed, whatever had happened to their records', () => {
    const book = new LedgerBook(lanes.slice(0, 1))
    for (let record = 0; record < 10; record++) book.move(0, 'none', 'queued', 1, 1)
    for (let record = 0; record < 4; record++) book.move(0, 'queued', 'inFlight', 1, 0)
    book.move(0, 'inFlight', 'delivered', 1, 1)
    book.move(0, 'inFlight', 'delivered', 1, 1)
    book.move(0, 'inFlight', 'rejected', 1, 1)
    book.move(0, 'queued', 'queue-full', 1, 1)
    book.move(0, 'queued', 'spooled', 1, 1)
    const ended = book.ended({ spools: false })
    expect(ended).toMatchObject({ delivered: 2, rejected: 1, spooled: 1, queued: 0, inFlight: 0 })
    expect(ended.dropped).toMatchObject({ 'queue-full': 1, shutdown: 5 })
    expect(ended.lanes[0]!.state).toBe('closed')
    expect(addsUp(ended)).toBe(true)
  })
})

it('is shown at the end by one of the threads that know it', () => {
  const book = new LedgerBook([{ kind: 'logs', bucket: 'b' }])
  const reader = new LedgerBook([{ kind: 'logs', bucket: 'b' }], book.memory)
  expect([reader.showsLast(), book.showsLast(), reader.showsLast()]).toEqual([true, false, false])
  expect(addsUp(reader.read())).toBe(true)
})
