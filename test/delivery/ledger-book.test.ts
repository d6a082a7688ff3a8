import { expect, it } from 'vitest'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import { addsUp } from '../support/delivery.js'

it('adds up for a reader who comes while its writer is interrupted in the middle of a change', () => {
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
