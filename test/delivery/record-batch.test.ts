import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RecordBatch } from '../../src/delivery/record-batch.js'
import { pendingRecord } from '../../src/delivery/record-queue.js'
import type { Outgoing } from '../../src/delivery/sender.js'
import { KeyWriter } from '../../src/log/idempotency-key.js'
import { runs } from '../support/full.js'

const outgoing = (body: string, idempotencyKey: string) => ({ body, bytes: Buffer.byteLength(body), idempotencyKey })
const pending = (record: Outgoing) => pendingRecord({ severity: 2, ...record }, { sequence: 0, generation: 0 })
describe('a batch of records', () => {
  it('copies its bodies one behind another, and its keys, before and after it is used again', () => {
    const batch = new RecordBatch(new KeyWriter('p'))
    const texts = fc.array(fc.tuple(fc.string({ unit: 'binary' }), fc.stringMatching(/^[!-~]{1,40}$/)), {
      maxLength: 30,
    })
    fc.assert(
      fc.property(texts, (all) => {
        batch.clear()
        const records = all.map(([body, key]) => outgoing(Buffer.from(body).toString(), key))
        for (const record of records) batch.add(pending(record))
        expect(batch.length).toBe(records.length)
        const run = (from: number, count: number) => {
          const memory = Buffer.alloc(10_000)
          return memory.toString('utf8', 3, batch.copyRun(from, count, memory, 3))
        }
        for (let from = 0; from < records.length; from++) {
          const some = records.slice(from, from + 3)
          expect(run(from, some.length)).toBe(some.map(({ body }) => body).join(''))
        }
        expect(records.map((_, index) => batch.bytesOf(index))).toEqual(records.map(({ bytes }) => bytes))
        expect(records.map((_, index) => batch.textOf(index).body)).toEqual(records.map(({ body }) => body))
        for (const [index, { idempotencyKey: key }] of records.entries()) {
          const memory = Buffer.alloc(5 + batch.mostKeyBytes)
          expect(memory.toString('latin1', 5, batch.writeKey(index, memory, 5))).toBe(key)
          expect([batch.isKey(index, key), batch.isKey(index, `${key}x`), batch.isKey(index, '')]).toEqual([
            true,
            false,
            false,
          ])
        }
      }),
      { seed: 3, numRuns: 200 },
    )
  })
})

describe('a key', () => {
  const sequence = fc.oneof(fc.nat({ max: 100_000 }), fc.maxSafeNat())

  it('is written as its text, is recognised, and is no longer than said', () => {
    const keys = new KeyWriter('0b5c2a55-9c0e')
    fc.assert(
      fc.property(sequence, (number) => {
        const text = keys.textOf(number)
        const memory = Buffer.alloc(80)
        expect(memory.toString('latin1', 5, keys.write(number, memory, 5))).toBe(text)
        expect(keys.isKey(number, text)).toBe(true)
        expect(text.length).toBeLessThanOrEqual(keys.mostBytes)
      }),
      { seed: 5, numRuns: runs({ some: 200, all: 1000 }) },
    )
  })

  it('is not that of another sequence, nor a changed one', () => {
    const keys = new KeyWriter('pre')
    const changed = fc.record({
      at: fc.nat({ max: 12 }),
      remove: fc.nat({ max: 2 }),
      insert: fc.stringMatching(/^[0-9a-z-]{0,2}$/),
    })
    fc.assert(
      fc.property(sequence, sequence, changed, (one, other, { at, remove, insert }) => {
        const key = keys.textOf(one)
        expect(keys.isKey(other, key)).toBe(one === other)
        const text = key.slice(0, at) + insert + key.slice(at + remove)
        expect(keys.isKey(one, text)).toBe(text === key)
      }),
      { seed: 7, numRuns: runs({ some: 200, all: 1000 }) },
    )
    for (const text of ['', 'pre', 'pre-', 'pre-00', 'xpre-0', 'pre-0 ']) expect(keys.isKey(0, text)).toBe(false)
    expect(keys.isKey(0, 'pre-0')).toBe(true)
  })
})
