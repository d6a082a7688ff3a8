import { describe, expect, it } from 'vitest'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import { addsUp } from '../support/delivery.js'

it('adds up for a reader while its writer is interrupted in the middle of a change', () => {
  const book = new LedgerBook([{ kind: 'logs', bucket: 'b' }])
  book.accept(0, { bytes: 10, handedOver: false })
  const reader = new LedgerBook([{ kind: 'logs', bucket: 'b' }], book.memory)
  const memory = new Float64Array(book.memory, 0)
  const before = memory.slice()
  book.depart(0, { retry: false })
  const after = memory.slice()
  const changed = [...after.keys()].filter((index) => index > 0 && after[index] !== before[index])
  memory.set(before)
  // Odd: a change is under way.
  new Int32Array(book.memory, 0, 1)[0] = 3
  // Every state between the two: each field is written after the one before.
  for (const index of changed) {
    memory[index] = after[index]!
    expect(addsUp(reader.read())).toBe(true)
  }
})

describe('a ledger whose writer is gone', () => {
  const held = () => {
    const book = new LedgerBook([{ kind: 'logs', bucket: 'b' }])
    for (let record = 0; record < 5; record++) book.accept(0, { bytes: 10, handedOver: false })
    book.depart(0, { retry: false })
    book.kept(0, 3)
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
    book.accept(0, { bytes: 10, handedOver: false })
    expect(book.read()).toMatchObject({ accepted: 6, spooled: 3, queued: 1, dropped: { 'worker-failed': 2 } })
    expect(addsUp(book.read())).toBe(true)
  })
})
