import { EventEmitter, once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { HeldStreams } from '../../src/worker/held-streams.js'

/** Streams of threads 1, 2, 3 …, each ready; which of them are let go. */
async function gathered(count: number, { delivers }: { delivers: boolean }): Promise<number[]> {
  const released: number[] = []
  class Observed extends HeldStreams {
    override release(threadId: number): void {
      if (!released.includes(threadId)) released.push(threadId)
      super.release(threadId)
    }
  }
  const held = new Observed({ runsSluice: async () => true, settled: async () => delivers })
  for (let thread = 1; thread <= count; thread++) {
    const stream = new EventEmitter()
    const ready = once(stream, 'ready')
    held.hold(thread, stream)
    stream.emit('ready')
    await ready
    await turn()
  }
  return released
}

describe('streams of workers that run Sluice', () => {
  it('are held up to eight, beyond them the oldest only until their records are delivered', async () => {
    expect(await gathered(8, { delivers: true })).toEqual([])
    expect(await gathered(11, { delivers: true })).toEqual([1, 2, 3])
    expect(await gathered(32, { delivers: false })).toEqual([])
  })

  it('do not gather without end while nothing is delivered', async () => {
    expect(await gathered(40, { delivers: false })).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })
})
