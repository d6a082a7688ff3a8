import { once } from 'node:events'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { PipeMemory } from '../../src/pipe/pipe-memory.js'
import { PipeWriter } from '../../src/pipe/pipe-writer.js'
import { runs } from '../support/full.js'
import { ledgerWord, readerCode, writeCode } from '../support/pipe-thread.js'

type Write = (writer: PipeWriter, number: number) => void
// biome-ignore lint/security/noGlobalEval: the same code runs in a program
const write = eval(writeCode) as Write

/** A pipe to a real thread. */
class Thread {
  readonly memory = PipeMemory.create()
  readonly #pipe = PipeMemory.open(this.memory)!
  readonly writer = new PipeWriter(this.#pipe)
  readonly ledger = new Int32Array(new SharedArrayBuffer(8))
  worker = this.#start()
  written = 0

  burst(records: number): void {
    for (let left = records; left > 0; left--) write(this.writer, this.written++)
    this.writer.publish()
  }

  /** Resolves when all is in the ring: it follows there as the thread makes room. */
  pushed(): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!this.writer.push(0)) return
        stop()
        resolve()
      }
      const stop = this.#pipe.bells.room.heard(look)
      look()
    })
  }

  async taken(records: number): Promise<void> {
    while (Atomics.load(this.ledger, ledgerWord.taken) < records) await sleep(1)
  }

  /** Another thread goes on in the place of this one. */
  async kill(): Promise<void> {
    await this.worker.terminate()
    this.worker = this.#start()
  }

  #start(): Worker {
    return new Worker(readerCode, { eval: true, workerData: { memory: this.memory, ledger: this.ledger.buffer } })
  }
}

describe('a pipe to another thread', () => {
  it('carries 200,000 records in bursts, each once and in order', async () => {
    const thread = new Thread()
    await once(thread.worker, 'message')
    while (thread.written < 200_000) {
      thread.burst(Math.min(1 + ((thread.written * 7) % 9001), 200_000 - thread.written))
      await turn()
      if (thread.writer.bytes > 4_000_000) await thread.pushed()
    }
    await thread.pushed()
    await thread.taken(thread.written)
    await sleep(5)
    expect([...thread.ledger]).toEqual([200_000, 0])
    await thread.worker.terminate()
  })

  it('whose thread is terminated at any moment gives all records to the ones after it, each once', async () => {
    const thread = new Thread()
    for (let life = 0; life < runs({ some: 10, all: 300 }); life++) {
      await once(thread.worker, 'message')
      thread.burst(30_000)
      await sleep(life % 5)
      await thread.kill()
      thread.writer.publish()
    }
    await thread.pushed()
    await thread.taken(thread.written)
    expect([...thread.ledger]).toEqual([thread.written, 0])
    await thread.worker.terminate()
  })

  it('holds this thread until there was room', async () => {
    const thread = new Thread()
    await once(thread.worker, 'message')
    for (let burst = 0; burst < 10; burst++) {
      thread.burst(20_000)
      expect(thread.writer.push(20_000)).toBe(true)
      expect(thread.writer.waits).toBe(false)
    }
    await thread.taken(thread.written)
    expect([...thread.ledger]).toEqual([200_000, 0])
    await thread.worker.terminate()
  })
})
