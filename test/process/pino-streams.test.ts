import { EventEmitter, once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { HeldStreams } from '../../src/process/pino-streams.js'

/** Streams of threads 1, 2, 3 …, each ready; which of them are let go. */
async function gathered(count: number, settled: () => Promise<boolean>): Promise<number[]> {
  const released: number[] = []
  class Observed extends HeldStreams {
    override release(threadId: number): void {
      if (!released.includes(threadId)) released.push(threadId)
      super.release(threadId)
    }
  }
  const held = new Observed({ runsSluice: async () => true, settled })
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

const delivers = async () => true
const waits = async () => false

describe('streams of workers that run Sluice', () => {
  it('are held up to eight, beyond them the oldest only until their records are delivered', async () => {
    expect(await gathered(8, delivers)).toEqual([])
    expect(await gathered(11, delivers)).toEqual([1, 2, 3])
    expect(await gathered(32, waits)).toEqual([])
  })

  it('do not gather without end while nothing is delivered', async () => {
    expect(await gathered(40, waits)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('stay held, and nothing is thrown into the application, when a worker cannot be asked', async () => {
    const rejections: unknown[] = []
    const listener = (reason: unknown) => void rejections.push(reason)
    process.prependListener('unhandledRejection', listener)
    expect(await gathered(9, () => Promise.reject(new Error('the worker has exited')))).toEqual([])
    await turn()
    process.off('unhandledRejection', listener)
    expect(rejections).toEqual([])
  })
})
