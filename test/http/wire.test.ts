import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/delivery/sender.js'
import { TextBatch } from '../../src/delivery/text-batch.js'
import { quietConnector } from '../../src/http/connector.js'
import { PipelinedSender } from '../../src/http/pipelined-sender.js'
import { socketDial, type Wire, type WireEvents } from '../../src/http/wire.js'
import type { Timer } from '../../src/runtime/clock.js'
import type { Loop } from '../../src/runtime/loop.js'
import { word } from '../support/batch.js'

/** A loop that turns when it is told to, as at the end of a process: nothing else turns there. */
class OwnLoop implements Loop {
  readonly #tasks: (() => void)[] = []
  readonly #timers = new Map<object, { readonly at: number; readonly task: () => void }>()
  #now = 0

  now(): number {
    return this.#now
  }

  schedule(task: () => void, delayMs: number): Timer {
    const timer = {}
    this.#timers.set(timer, { at: this.#now + delayMs, task })
    return { cancel: () => void this.#timers.delete(timer) }
  }

  soon(task: () => void): void {
    this.#tasks.push(task)
  }

  immediate(task: () => void): void {
    this.#tasks.push(task)
  }

  /** Run what waits, and the timers that are due after `ms`. */
  turn(ms = 0): void {
    this.#now += ms
    for (const [timer, { at, task }] of this.#timers) {
      if (at > this.#now) continue
      this.#timers.delete(timer)
      this.#tasks.push(task)
    }
    for (let task = this.#tasks.shift(); task !== undefined; task = this.#tasks.shift()) task()
  }
}

/** The server at the other end of wires, in the same loop: it takes bytes, and answers each request. */
class Exchange {
  readonly #loop: OwnLoop
  opened = 0
  /** Answers before it hangs up. */
  patience = Number.POSITIVE_INFINITY

  constructor(loop: OwnLoop) {
    this.#loop = loop
  }

  readonly dial = (events: WireEvents): Wire => {
    const { immediate } = this.#loop
    const later = immediate.bind(this.#loop)
    let isClosed = false
    const close = (serverKnows: boolean) => {
      if (isClosed) return
      isClosed = true
      later(() => events.closed({ error: undefined, serverKnows }))
    }
    this.opened++
    later(() => events.opened())
    return {
      write: (bytes) =>
        later(() => {
          const requests = bytes.toString('latin1').split('POST ').length - 1
          events.flushed()
          const answers = Math.min(requests, this.patience)
          this.patience -= answers
          if (answers > 0) events.received(Buffer.from('HTTP/1.1 201 X\r\ncontent-length: 0\r\n\r\n'.repeat(answers)))
          if (answers === requests) return
          events.ended()
          close(true)
        }),
      end: () => close(true),
      destroy: () => close(false),
    }
  }
}

function senderOver(exchange: Exchange, loop: Loop) {
  return new PipelinedSender({
    url: 'http://127.0.0.1:1',
    apiKey: { reveal: () => 'k', renew: () => false },
    userAgent: 'sluice/test',
    maxConnections: 2,
    maxDepth: 64,
    requestTimeoutMs: 1000,
    loop,
    dial: exchange.dial,
  })
}

/** Run something while no promise can be waited for. */
function withoutPromises(work: () => void): void {
  const { then } = Promise.prototype
  // biome-ignore lint/suspicious/noThenProperty: no promise may be used here
  Promise.prototype.then = () => {
    throw new Error('a promise')
  }
  try {
    work()
  } finally {
    // biome-ignore lint/suspicious/noThenProperty: given back
    Promise.prototype.then = then
  }
}

describe('the pipelined sender', () => {
  it('delivers over wires that are no sockets, in a loop that is not that of Node, without promises', () => {
    const loop = new OwnLoop()
    const exchange = new Exchange(loop)
    const sender = senderOver(exchange, loop)
    const words: string[] = []
    const done: string[] = []
    const send = (name: string, count: number) => {
      const records = Array.from({ length: count }, (_, n) => ({ body: `${n % 10}`, bytes: 1, idempotencyKey: `${n}` }))
      const settle = (_: number, outcome: Outcome, times = 1) => {
        for (let time = 0; time < times; time++) words.push(word(outcome))
      }
      sender.send(new TextBatch({ kind: 'logs', bucket: 'b', records, settle, done: () => done.push(name) }))
    }
    withoutPromises(() => {
      send('first', 3)
      send('beside', 2)
      loop.turn()
      expect(words).toEqual(new Array(5).fill('delivered'))
      expect(exchange.opened).toBe(2)
      exchange.patience = 1
      send('cut off', 3)
      loop.turn()
      expect(words.slice(5)).toEqual(['delivered', 'ambiguous', 'ambiguous'])
      exchange.patience = Number.POSITIVE_INFINITY
      loop.turn(100)
      for (let turn = 0; turn < 3; turn++) send(`later ${turn}`, 1)
      loop.turn(100)
      expect(words.slice(8)).toEqual(['delivered', 'delivered', 'delivered'])
      expect(done).toEqual(['first', 'beside', 'cut off', 'later 0', 'later 1', 'later 2'])
    })
  })
})

describe('a wire that is a socket', () => {
  const dialTo = (port: number) =>
    socketDial(quietConnector({ connectTimeoutMs: 2000 }), new URL(`http://127.0.0.1:${port}`))

  /** The names of its events, until it is closed. */
  async function follow(port: number, act: Partial<Record<keyof WireEvents, (wire: Wire) => void>>): Promise<string[]> {
    const told: string[] = []
    await new Promise<void>((over) => {
      const note = (name: 'opened' | 'flushed' | 'ended') => () => {
        told.push(name)
        act[name]?.(wire)
      }
      const wire = dialTo(port)({
        opened: note('opened'),
        flushed: note('flushed'),
        ended: note('ended'),
        received: (bytes) => {
          told.push(`${bytes}`)
          act.received?.(wire)
        },
        closed: ({ error, serverKnows }) => {
          told.push(`closed ${error === undefined ? '' : (error as NodeJS.ErrnoException).code} ${serverKnows}`)
          over()
        },
      })
    })
    return told
  }

  it('tells what happens to it, to its close', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).once('data', (bytes) => socket.end(bytes)))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const opened = (wire: Wire) => wire.write(Buffer.from('hello'))
    expect(await follow(port, { opened })).toEqual(['opened', 'flushed', 'hello', 'ended', 'closed  true'])
    expect(await follow(port, { opened, received: (wire) => wire.destroy() })).toEqual([
      'opened',
      'flushed',
      'hello',
      'closed  false',
    ])
    server.close()
    await once(server, 'close')
    expect(await follow(port, {})).toEqual(['closed ECONNREFUSED true'])
  })
})
