import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SequenceHeap } from '../../src/delivery/sequence-heap.js'

describe('the heap of returned records', () => {
  it('gives the smallest sequence first, whatever was added and removed in between', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(1000)), { maxLength: 200 }), (steps) => {
        const heap = new SequenceHeap<{ sequence: number; heapIndex: number }>()
        const inside: { sequence: number; heapIndex: number }[] = []
        for (const [add, number] of steps) {
          if (add || inside.length === 0) {
            const item = { sequence: number, heapIndex: -1 }
            inside.push(item)
            heap.add(item)
          } else {
            const [item] = inside.splice(number % inside.length, 1)
            heap.remove(item!)
            expect(item!.heapIndex).toBe(-1)
          }
          expect(heap.first?.sequence).toBe(
            inside.length === 0 ? undefined : Math.min(...inside.map((each) => each.sequence)),
          )
        }
      }),
    )
  })
})
