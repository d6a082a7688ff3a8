import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turnOfNode } from 'node:timers/promises'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { build } from 'esbuild'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Outcome } from '../../src/delivery/sender.js'
import { TextBatch } from '../../src/delivery/text-batch.js'
import { openExitSender } from '../../src/http/auto-sender.js'
import { type ExitLoop, startExitLoop } from '../../src/http/exit-loop.js'
import type { Destination } from '../../src/http/route.js'
import type { Wire, WireEvents } from '../../src/http/wire.js'
import { word } from '../support/batch.js'

/** It starts within some tens of milliseconds, but for a busy machine. */
function start(open: typeof startExitLoop = startExitLoop): ExitLoop {
  const loop = open(10_000)!
  expect(loop).toBeDefined()
  onTestFinished(() => loop.close())
  return loop
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** Everything by which Node comes back to a task later. */
const comingBack: readonly (readonly [object, string])[] = [
  [Promise.prototype, 'then'],
  [process, 'nextTick'],
  ...['queueMicrotask', 'setImmediate', 'setTimeout', 'setInterval'].map((name) => [globalThis, name] as const),
]

/** Run something while Node comes back to nothing. */
function withoutNode(work: () => void): void {
  const present = comingBack.map(([owner, name]) => Object.getOwnPropertyDescriptor(owner, name)!)
  const refuse = () => {
    throw new Error('Node would come back')
  }
  for (const [owner, name] of comingBack) Object.defineProperty(owner, name, { configurable: true, value: refuse })
  try {
    work()
  } finally {
    for (const [at, [owner, name]] of comingBack.entries()) Object.defineProperty(owner, name, present[at]!)
  }
}

/** A server in a thread of its own: it answers each request, and hangs up at the path `/base/logs/end`. */
const answering = `
const answer = 'HTTP/1.1 201 Created\\r\\ncontent-length: 15\\r\\n\\r\\n{"result":true}'
const server = require('node:net').createServer((socket) => {
  socket.on('error', () => {}).on('data', (bytes) => {
    const text = bytes.toString('latin1')
    if (text.includes('/logs/end ')) socket.end()
    else socket.write(answer.repeat(text.split('POST ').length - 1))
  })
})
server.listen(0, '127.0.0.1', () => require('node:worker_threads').parentPort.postMessage(server.address().port))`

/** A sender over a loop, to that server, and the outcomes of 64 records that it sends. */
async function senderTo(server: Worker, { requestTimeoutMs }: { requestTimeoutMs: number }) {
  const [port] = (await once(server, 'message')) as [number]
  // To start a thread takes streams, which come to nothing at the end of a process.
  const loop = start()
  const sender = openExitSender({
    url: `http://127.0.0.1:${port}/base`,
    proxyUrl: undefined,
    apiKey: { reveal: () => 'k', renew: () => false },
    userAgent: 'sluice/test',
    maxConnections: 2,
    maxBatch: 64,
    requestTimeoutMs,
    loop,
    former: () => ({ sender: 'pipelined', maxDepth: 1 }),
    misread() {},
  })
  const send = (bucket: string, turn: () => void = () => loop.turn(5000)) => {
    const words: string[] = []
    const records = Array.from({ length: 64 }, (_, n) => ({ body: `${n % 10}`, bytes: 1, idempotencyKey: `${n}` }))
    const settle = (_: number, outcome: Outcome, times = 1) => {
      for (let time = 0; time < times; time++) words.push(word(outcome))
    }
    let isDone = false
    const done = () => {
      isDone = true
    }
    sender.send(new TextBatch({ kind: 'logs', bucket, records, settle, done }))
    const deadline = loop.now() + 20_000
    while (!isDone && loop.now() < deadline) turn()
    return new Set(words)
  }
  return { loop, sender, send }
}

function serverThread(): Worker {
  const server = new Worker(answering, { eval: true })
  onTestFinished(async () => void (await server.terminate()))
  return server
}

describe('a sender over the exit loop', () => {
  it('delivers while this thread never returns to Node: no promise, no stream, no timer', async () => {
    const { sender, send } = await senderTo(serverThread(), { requestTimeoutMs: 5000 })
    withoutNode(() => {
      expect(sender.carriage('logs').maxDepth).toBe(1)
      expect(send('b')).toEqual(new Set(['delivered']))
      expect(sender.carriage('logs').maxDepth).toBe(64)
      expect(send('end')).toEqual(new Set(['ambiguous']))
      expect(send('b')).toEqual(new Set(['delivered']))
    })
  })

  it('counts answers that came while this thread did something else for longer than the time-out', async () => {
    const { loop, send } = await senderTo(serverThread(), { requestTimeoutMs: 150 })
    const blocked = new Int32Array(new SharedArrayBuffer(4))
    const turn = () => {
      loop.turn(1)
      Atomics.wait(blocked, 0, 0, 300)
    }
    expect(send('b', turn)).toEqual(new Set(['delivered']))
  })
})

describe('a turn', () => {
  it('runs timers that are due by their times, and none that was cancelled', () => {
    const loop = start()
    const ran: string[] = []
    loop.schedule(() => ran.push('second'), 2)
    const never = loop.schedule(() => ran.push('never'), 3)
    loop.schedule(() => {
      ran.push('first')
      never.cancel()
    }, 1)
    loop.schedule(() => ran.push('late'), 60_000)
    const from = loop.now()
    while (loop.now() < from + 4);
    loop.turn(60_000)
    expect(ran).toEqual(['first', 'second'])
  })

  it('waits for the next timer, or for as long as it may', () => {
    const loop = start()
    const from = loop.now()
    loop.turn(20)
    expect(loop.now() - from).toBeGreaterThanOrEqual(19)
    let ran = false
    loop.schedule(() => {
      ran = true
    }, 20)
    while (!ran) loop.turn(60_000)
    expect(loop.now() - from).toBeGreaterThanOrEqual(39)
    expect(loop.now() - from).toBeLessThan(30_000)
  })

  it('runs a task that is wanted soon before the next one, and one for the next turn behind what has come', () => {
    const loop = start()
    const ran: string[] = []
    loop.immediate(() => {
      ran.push('immediate')
      loop.soon(() => ran.push('soon'))
      loop.immediate(() => ran.push('immediate of the next turn'))
    })
    loop.immediate(() => ran.push('another immediate'))
    loop.schedule(() => ran.push('timer'), 0)
    loop.turn(60_000)
    expect(ran).toEqual(['timer', 'immediate', 'soon', 'another immediate'])
    loop.turn(60_000)
    expect(ran.at(-1)).toBe('immediate of the next turn')
  })
})

type Acts = Partial<Record<'dialled' | keyof WireEvents, (wire: Wire) => void>>

/** The events of a wire, until it is closed. The server of the test runs between the turns. */
async function follow(loop: ExitLoop, destination: Omit<Destination, 'proxyUrl'>, act: Acts = {}): Promise<string[]> {
  const told: string[] = []
  let isOver = false
  const note = (name: 'opened' | 'flushed' | 'ended') => () => {
    told.push(name)
    act[name]?.(wire)
  }
  const wire = loop.connect({ proxyUrl: undefined, ...destination })({
    opened: note('opened'),
    flushed: note('flushed'),
    ended: note('ended'),
    received: (bytes) => {
      told.push(`${bytes}`)
      act.received?.(wire)
    },
    closed: ({ error, serverKnows }) => {
      told.push(`closed ${error === undefined ? '' : (error as NodeJS.ErrnoException).code} ${serverKnows}`)
      isOver = true
    },
  })
  act.dialled?.(wire)
  while (!isOver) {
    loop.turn(1)
    await turnOfNode()
  }
  return told
}

const hello = { opened: (wire: Wire) => wire.write(Buffer.from('hello')) }

describe('a wire of the exit loop', () => {
  it('tells what happens to it, to its close', async () => {
    let hangsUp = true
    const echo = createServer((socket) =>
      socket
        .on('error', () => {})
        .once('data', (bytes) => {
          socket.write(bytes)
          if (hangsUp) socket.end()
        }),
    )
    const loop = start()
    const destination = { url: `http://127.0.0.1:${await listen(echo)}`, connectTimeoutMs: 5000 }
    expect(await follow(loop, destination, hello)).toEqual(['opened', 'flushed', 'hello', 'ended', 'closed  true'])
    hangsUp = false
    expect(await follow(loop, destination, { ...hello, received: (wire) => wire.destroy() })).toEqual([
      'opened',
      'flushed',
      'hello',
      'closed  false',
    ])
    echo.close()
    await once(echo, 'close')
    expect(await follow(loop, destination)).toEqual(['closed ECONNREFUSED true'])
  })

  it('takes all bytes of many writes, of any length, although none has left it', async () => {
    const received: Buffer[] = []
    const server = createServer((socket) => {
      socket.on('data', (bytes) => received.push(bytes))
      socket.on('end', () => socket.end('bye'))
    })
    const url = `http://127.0.0.1:${await listen(server)}`
    const writes = Array.from({ length: 50 }, (_, n) => Buffer.alloc((n * 7919) % 20_000, n))
    const opened = (wire: Wire) => {
      const memory = Buffer.alloc(20_000)
      for (const bytes of writes) wire.write(memory.subarray(0, bytes.copy(memory)))
      wire.end()
    }
    const told = await follow(start(), { url, connectTimeoutMs: 5000 }, { opened })
    expect(new Set(told)).toEqual(new Set(['opened', 'flushed', 'bye', 'ended', 'closed  true']))
    expect(Buffer.concat(received).equals(Buffer.concat(writes))).toBe(true)
  })

  it('is given up when it is not made in time, or destroyed before', async () => {
    // Nobody takes part in the handshake.
    const url = `https://127.0.0.1:${await listen(createServer((socket) => socket.on('error', () => {})))}`
    const loop = start()
    expect(await follow(loop, { url, connectTimeoutMs: 100 })).toEqual(['closed ETIMEDOUT false'])
    const dialled = (wire: Wire) => wire.destroy()
    expect(await follow(loop, { url, connectTimeoutMs: 60_000 }, { dialled })).toEqual(['closed  false'])
  })

  it('resumes the session of TLS of the one before it', async () => {
    const pem = (name: string) => readFileSync(join(import.meta.dirname, `../support/certificates/${name}.pem`))
    const resumed: boolean[] = []
    const server = createTlsServer({ key: pem('key'), cert: pem('foreign') }, (socket: TLSSocket) => {
      resumed.push(socket.isSessionReused())
      socket.on('error', () => {}).once('data', (bytes) => socket.end(bytes))
    })
    const url = `https://localhost:${await listen(server)}`
    const destination = { url, ca: pem('foreign'), connectTimeoutMs: 10_000 }
    const loop = start()
    for (let time = 0; time < 2; time++) expect(await follow(loop, destination, hello)).toContain('hello')
    expect(resumed).toEqual([false, true])
  })
})

describe('the thread of the exit loop', () => {
  it('is given up when it does not start in time', () => {
    expect(startExitLoop(0)).toBeUndefined()
  })

  it.each([
    { keepNames: true, target: 'es2022' },
    { keepNames: true, minify: true, target: 'es2018' },
    { target: 'es2015' },
  ])('works from a bundle: %o', async (options) => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-exit-loop-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const outfile = join(folder, 'bundle.mjs')
    const entry = join(import.meta.dirname, '../../src/http/exit-loop.ts')
    await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', outfile, ...options })
    const bundle = (await import(outfile)) as typeof import('../../src/http/exit-loop.js')
    const echo = createServer((socket) => socket.once('data', (bytes) => socket.end(bytes)))
    const destination = { url: `http://127.0.0.1:${await listen(echo)}`, connectTimeoutMs: 5000 }
    expect(await follow(start(bundle.startExitLoop), destination, hello)).toContain('hello')
  })
})
