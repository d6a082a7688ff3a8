import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { PipelinedSender, type PipelinedSenderPlan } from '../../src/http/pipelined-sender.js'
import { systemLoop } from '../../src/runtime/loop.js'
import { sendBatch, sendRecords, tally, word } from '../support/batch.js'
import { delivered, type Fault, FaultServer, type Request, response } from '../support/fault-server.js'
import { full, runs } from '../support/full.js'
import { VirtualClock } from '../support/virtual-clock.js'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function serve(script: (request: Request) => Fault): Promise<FaultServer> {
  const server = await FaultServer.start(script)
  cleanUps.push(() => server.close())
  return server
}

function senderTo(url: string, changes: Partial<PipelinedSenderPlan> = {}): PipelinedSender {
  const sender = new PipelinedSender({
    url,
    apiKey: { reveal: () => 'the-key', renew: () => false },
    userAgent: 'sluice/test',
    maxConnections: 4,
    maxDepth: 64,
    requestTimeoutMs: 2000,
    loop: systemLoop,
    ...changes,
  })
  cleanUps.push(() => sender.close())
  return sender
}

const bodies = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `{"n":${from + index}}`)
const numberOf = ({ body }: { body: string }) => (JSON.parse(body) as { n: number }).n
const ok = response(201, '{"result":true}')
const closing: Fault = { type: 'close', announced: true }

describe('a batch', () => {
  it('goes out on one connection, which is kept for the next, each request whole', async () => {
    const server = await serve(() => delivered)
    const sender = senderTo(`${server.url}/base/`)
    for (let batch = 0; batch < 10; batch++) {
      expect(tally(await sendBatch(sender, bodies(64, batch * 64), { bucket: 'a b' }))).toEqual({ delivered: 64 })
    }
    expect(server.connections).toBe(1)
    expect(server.taken).toEqual(bodies(640))
    const [first] = server.requests
    expect(first!.path).toBe('/base/logs/a%20b')
    expect(Object.fromEntries(first!.headers)).toEqual({
      host: new URL(server.url).host,
      'x-api-key': 'the-key',
      'content-type': 'application/json',
      accept: 'application/json',
      'user-agent': 'sluice/test',
      'idempotency-key': 'key-{"n":0}',
      'content-length': '7',
    })
  })

  it('that wants a new connection gets one, which is kept for the next batch', async () => {
    const server = await serve(() => delivered)
    const sender = senderTo(server.url)
    for (const connection of ['any', 'any', 'lively', 'new', 'any'] as const) {
      expect(tally(await sendBatch(sender, bodies(2), { connection }))).toEqual({ delivered: 2 })
    }
    expect(server.connections).toBe(2)
  })

  it('that wants a new connection waits for one, and takes none that becomes free', async () => {
    const server = await serve(() => delivered)
    const sender = senderTo(server.url, { maxConnections: 1 })
    const wanted = ['any', 'new', 'any'] as const
    const sent = wanted.map((connection, number) => sendBatch(sender, bodies(1, number), { connection }))
    expect((await Promise.all(sent)).map(tally)).toEqual(wanted.map(() => ({ delivered: 1 })))
    expect(server.requests.map(({ body, connection }) => [numberOf({ body }), connection])).toEqual([
      [0, 1],
      [2, 1],
      [1, 2],
    ])
  })

  it('keeps every character, whatever it is', async () => {
    const server = await serve(() => delivered)
    const texts = ['plain', 'grüß', '€', '日本語', '👩‍🚀', '\u0000\u007f\u0080\u00ff', 'half \ud83d of a pair']
    const all = texts.map((text) => JSON.stringify({ text }))
    const sender = senderTo(server.url)
    expect(tally(await sendBatch(sender, all))).toEqual({ delivered: all.length })
    for (const each of all) await sendBatch(sender, [each])
    expect(server.taken).toEqual([...all, ...all])
  })

  it('of large records is written in parts, and arrives whole', async () => {
    const server = await serve(() => delivered)
    const great = Array.from({ length: 20 }, (_, n) => JSON.stringify({ n, text: 'ü'.repeat(50_000) }))
    expect(tally(await sendBatch(senderTo(server.url), great))).toEqual({ delivered: 20 })
    expect(server.taken).toEqual(great)
  })

  it('waits for a connection where all are busy, and those of the other kind do not', async () => {
    const server = await serve(({ path }) => (path.startsWith('/logs') ? { type: 'silence' } : delivered))
    const sender = senderTo(server.url, { maxConnections: 1 })
    const stuck = [sendBatch(sender, bodies(3)), sendBatch(sender, bodies(3))]
    expect(tally(await sendBatch(sender, bodies(3), { kind: 'values' }))).toEqual({ delivered: 3 })
    expect(server.connections).toBe(2)
    await sender.close()
    const [first, second] = await Promise.all(stuck)
    expect([tally(first!), tally(second!)]).toEqual([{ ambiguous: 3 }, { unsent: 3 }])
  })
})

/** The service refuses a record: 13 bytes. */
const refusal = '{"errors":[]}'

describe('an answer', () => {
  it('never belongs to another record, however the connections break', { timeout: 60_000 }, async () => {
    // The status and the fault both follow from the number of the record.
    const statuses = [201, 400, 503, 202, 429, 422, 500, 200]
    const expected = (n: number) =>
      ['delivered', 'rejected', 'retry', 'delivered', 'retry', 'rejected', 'retry', 'delivered'][n % 8]
    const server = await serve((request) => {
      const n = numberOf(request)
      if (n % 97 === 5) return closing
      if (n % 103 === 7) return { type: 'close', announced: false }
      if (n % 107 === 9) return { type: 'reset-after-commit' }
      if (n % 109 === 11) return { type: 'garbage' }
      if (n % 113 === 13) return { type: 'bytes', text: `HTTP/1.1 100 Continue\r\n\r\n`, next: 'fin' }
      const head = `HTTP/1.1 ${statuses[n % 8]} S\r\nx-number: ${n}\r\n`
      const body = expected(n) === 'rejected' ? refusal : '{"ok":  true}'
      if (n % 3 === 0)
        return {
          type: 'bytes',
          text: `${head}transfer-encoding: chunked\r\n\r\nd\r\n${body}\r\n0\r\n\r\n`,
          next: 'go-on',
        }
      return { type: 'bytes', text: `${head}content-length: ${body.length}\r\n\r\n${body}`, next: 'go-on' }
    })
    const sender = senderTo(server.url)
    let answered = 0
    const run = async (carrier: number) => {
      for (let batch = 0; batch < 60; batch++) {
        const from = (carrier * 60 + batch) * 64
        const outcomes = await sendBatch(sender, bodies(64, from))
        outcomes.forEach((outcome, index) => {
          const n = from + index
          const what = word(outcome)
          if (what === 'ambiguous' || what === 'unsent') return
          answered++
          if (n % 97 === 5 || n % 103 === 7) expect(what).toBe('delivered')
          else expect(`${n} ${what}`).toBe(`${n} ${expected(n)}`)
        })
      }
    }
    await Promise.all([0, 1, 2, 3].map(run))
    expect(answered).toBeGreaterThan(3000)
  })

  it('that announces the end of the connection counts; requests behind it may have been processed', async () => {
    const server = await serve((request) => (numberOf(request) === 9 ? closing : delivered))
    const outcomes = await sendBatch(senderTo(server.url), bodies(32))
    expect(outcomes.map(word)).toEqual([...Array(10).fill('delivered'), ...Array(22).fill('ambiguous')])
  })

  it.each<[string, Fault]>([
    ['a FIN that was not announced', { type: 'close', announced: false }],
    ['garbage after it', { type: 'bytes', text: `${ok}\u0000`, next: 'go-on' }],
    ['a body that ends with the connection', { type: 'bytes', text: 'HTTP/1.1 201 X\r\n\r\n{}', next: 'fin' }],
    ['a second answer', { type: 'bytes', text: `HTTP/1.1 201 X\r\ncontent-length: x\r\n\r\n`, next: 'go-on' }],
  ])('is followed by %s: what came before counts, the rest is ambiguous', async (_, fault) => {
    const server = await serve((request) => {
      if (numberOf(request) < 9) return delivered
      return numberOf(request) === 9 ? fault : { type: 'silence' }
    })
    const outcomes = (await sendBatch(senderTo(server.url), bodies(32))).map(word)
    expect(outcomes.slice(0, 9)).toEqual(Array(9).fill('delivered'))
    expect(new Set(outcomes.slice(10))).toEqual(new Set(['ambiguous']))
  })

  const goodbye = 'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n'
  it.each<[string, string, string, string[]]>([
    ['a goodbye with 408', goodbye, 'delivered', []],
    ['a second answer', ok, 'ambiguous', ['an answer came without a request']],
    ['a part of a second answer', ok.slice(0, 9), 'ambiguous', ['bytes came without a request']],
    ['bytes that are no answer', 'what?', 'delivered', ['the bytes are not HTTP/1']],
  ])(
    'together with %s ends the connection, and no record gets an answer to another request',
    async (_, text, first, reasons) => {
      const server = await serve(() => ({ type: 'bytes', text: ok + text, next: 'go-on' }))
      const misunderstood: string[] = []
      const watch = {
        saw() {},
        answered() {},
        broke() {},
        misunderstood: (reason: string) => misunderstood.push(reason),
      }
      const sender = senderTo(server.url, { watch })
      expect((await sendBatch(sender, bodies(1))).map(word)).toEqual([first])
      server.script = () => ({ type: 'answer', status: 400, body: refusal })
      expect((await sendBatch(sender, bodies(1))).map(word)).toEqual(['rejected'])
      expect(server.connections).toBe(2)
      expect(misunderstood).toEqual(reasons)
    },
  )

  it('on a connection without requests ends it, and is reported as not understood', async () => {
    let late = () => {}
    const server = createServer((socket) => {
      cleanUps.push(() => socket.destroy())
      socket.on('data', () => socket.write(ok))
      late = () => socket.write(ok)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanUps.push(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    let misunderstood: (reason: string) => void = () => {}
    const heard = new Promise<string>((resolve) => {
      misunderstood = resolve
    })
    const watch = { saw() {}, answered() {}, broke() {}, misunderstood }
    expect((await sendBatch(senderTo(url, { watch }), bodies(1))).map(word)).toEqual(['delivered'])
    late()
    expect(await heard).toBe('an answer came without a request')
  })

  it('to one record never counts for another one, where a server answers refused records twice', async () => {
    // The second answer comes with the next one, like that of a handler that goes on after its answer.
    const refused = (n: number) => n % 5 === 3
    const server = await serve((request) => {
      const n = numberOf(request)
      const text = refused(n) ? `HTTP/1.1 400 X\r\ncontent-length: 13\r\n\r\n${refusal}${ok}` : ok
      return { type: 'bytes', text, next: 'go-on' }
    })
    const outcomes = (await sendBatch(senderTo(server.url), bodies(64))).map(word)
    outcomes.forEach((outcome, n) => {
      if (outcome !== 'ambiguous') expect(`${n} ${outcome}`).toBe(`${n} ${refused(n) ? 'rejected' : 'delivered'}`)
    })
    expect(outcomes).toContain('ambiguous')
  })

  it('may come before its request is written; the connection is not used again until it is', async () => {
    const great = JSON.stringify({ text: 'x'.repeat(12_000_000) })
    let resume = () => {}
    const paths: string[] = []
    const server = createServer((socket) => {
      let first = true
      cleanUps.push(() => socket.destroy())
      socket.on('error', () => {})
      socket.on('data', (chunk) => {
        if (!first) return
        first = false
        paths.push(chunk.toString('latin1').split(' ')[1]!)
        if (chunk.includes('logs/great')) {
          socket.pause()
          resume = () => socket.resume()
        }
        socket.write(ok)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanUps.push(() => server.close())
    const sender = senderTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    let early = () => {}
    const answered = new Promise<void>((resolve) => {
      early = resolve
    })
    let done = false
    const records = [{ body: great, bytes: great.length, idempotencyKey: 'k' }]
    const sent = sendRecords(sender, { kind: 'logs', bucket: 'great', records, settle: early }).then(() => {
      done = true
    })
    await answered
    expect((await sendBatch(sender, bodies(1))).map(word)).toEqual(['delivered'])
    expect({ done, paths }).toEqual({ done: false, paths: ['/logs/great', '/logs/b'] })
    resume()
    await sent
  })

  it('that refuses a request before it is written, and closes, counts', async () => {
    const great = JSON.stringify({ text: 'x'.repeat(12_000_000) })
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () =>
        socket.end(`HTTP/1.1 413 X\r\nconnection: close\r\ncontent-length: 13\r\n\r\n${refusal}`),
      )
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanUps.push(() => server.close())
    const sender = senderTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    expect((await sendBatch(sender, [great, ...bodies(3)])).map(word)).toEqual([
      'rejected',
      'unsent',
      'unsent',
      'unsent',
    ])
  })
})

describe('time', () => {
  it('runs for each answer from the one before: a slow server is no time-out', async () => {
    let last = 0
    const server = await serve(() => {
      last += 60
      return { ...delivered, afterMs: last } as Fault
    })
    expect(tally(await sendBatch(senderTo(server.url, { requestTimeoutMs: 400 }), bodies(12)))).toEqual({
      delivered: 12,
    })
    expect(last).toBeGreaterThan(400)
  })

  it('that runs out ends the connection: answers count, the rest is ambiguous and back-pressure', async () => {
    const server = await serve((request) => (numberOf(request) < 3 ? delivered : { type: 'silence' }))
    const sender = senderTo(server.url, { requestTimeoutMs: 100 })
    const outcomes = await sendBatch(sender, bodies(5))
    expect(outcomes.map(word)).toEqual(['delivered', 'delivered', 'delivered', 'ambiguous', 'ambiguous'])
    expect(outcomes[3]).toMatchObject({ backPressure: true, reason: 'no answer within 100 ms' })
    await sendBatch(sender, bodies(1))
    expect(server.connections).toBe(2)
  })

  it('in which the event loop is blocked is no time-out', async () => {
    const server = await serve(() => delivered)
    const sender = senderTo(server.url, { requestTimeoutMs: 100 })
    await sendBatch(sender, bodies(1))
    const sent = sendBatch(sender, bodies(64))
    setTimeout(() => {
      // The server is in this thread. It has answered, and nothing has been read.
      const blockedUntil = performance.now() + 400
      while (performance.now() < blockedUntil);
    }, 0)
    expect(tally(await sent)).toEqual({ delivered: 64 })
  })

  it.each([
    ['4 s, where the server says nothing', '', 4000],
    ['less than the server says', 'keep-alive: timeout=10\r\n', 8000],
    ['15 s, whatever the server says', 'keep-alive: timeout=600\r\n', 15_000],
    ['half of very little', 'Keep-Alive: max=5, timeout=1\r\n', 500],
  ])('without anything to do ends a connection after %s', async (_, header, idleMs) => {
    const text = `HTTP/1.1 201 X\r\n${header}content-length: 0\r\n\r\n`
    const server = await serve(() => ({ type: 'bytes', text, next: 'go-on' }))
    const clock = new VirtualClock()
    const sender = senderTo(server.url, { loop: clock })
    await sendBatch(sender, bodies(1))
    await clock.advance(idleMs - 1)
    await sendBatch(sender, bodies(1))
    expect(server.connections).toBe(1)
    const closed = server.gone()
    await clock.advance(idleMs)
    await closed
    await sendBatch(sender, bodies(1))
    expect(server.connections).toBe(2)
    await sender.close()
    expect(clock.timers).toBe(0)
  })
})

describe('the key', () => {
  it('is asked for at each write, and again when it is refused', async () => {
    let key = 'old'
    const server = await serve(({ headers }) =>
      headers.get('x-api-key') === 'new' ? delivered : { type: 'answer', status: 401 },
    )
    const sender = senderTo(server.url, { apiKey: { reveal: () => key, renew: (refused) => refused !== key } })
    expect((await sendBatch(sender, bodies(2))).map(word)).toEqual(['pause', 'pause'])
    const sent = sendBatch(sender, bodies(2))
    key = 'new'
    expect((await sent).map(word)).toEqual(['retry', 'retry'])
    expect((await sendBatch(sender, bodies(2))).map(word)).toEqual(['delivered', 'delivered'])
  })

  it.each(['a\r\nx: y', 'schlüssel', 'a\u0000'])('that cannot be a header (%j) is never written', async (key) => {
    const server = await serve(() => delivered)
    const sender = senderTo(server.url, { apiKey: { reveal: () => key, renew: () => false } })
    expect(tally(await sendBatch(sender, bodies(3)))).toEqual({ unsent: 3 })
    expect(server.requests).toEqual([])
  })
})

describe('over TLS', () => {
  const pem = (name: string) => readFileSync(join(import.meta.dirname, `../support/certificates/${name}.pem`))

  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void

  it('http/1.1 alone is offered, and sessions are resumed', async () => {
    const seen: { protocol: string | false | null; reused: boolean; host: unknown }[] = []
    const server = createTlsServer(
      { key: pem('key'), cert: pem('foreign'), ALPNProtocols: ['h2', 'http/1.1'] },
      (socket: TLSSocket) => {
        seen.push({
          protocol: socket.alpnProtocol,
          reused: socket.isSessionReused(),
          host: (socket as TLSSocket & { servername: unknown }).servername,
        })
        socket.on('error', () => {})
        socket.on('data', () => socket.end('HTTP/1.1 201 X\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'))
      },
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanUps.push(() => server.close())
    const url = `https://localhost:${(server.address() as AddressInfo).port}`
    const sender = senderTo(url, { connection: { ca: pem('foreign') } })
    for (let turn = 0; turn < 3; turn++) {
      collectGarbage()
      expect(tally(await sendBatch(sender, bodies(1)))).toEqual({ delivered: 1 })
    }
    expect(seen).toEqual([false, true, true].map((reused) => ({ protocol: 'http/1.1', reused, host: 'localhost' })))
  })
})

describe('a server of random bytes', () => {
  it('never makes a success, a crash or a wait without end', {
    timeout: full ? 600_000 : 60_000,
  }, async () => {
    const noise = fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 60 }).map((each) => Buffer.from(each).toString('latin1')),
        fc.constantFrom('HTTP/1.1 ', '503 X\r\n', 'content-length: 5\r\n', '\r\n\r\n', 'HTTP/1.1 100 C\r\n\r\n', '\n'),
      ),
      { maxLength: 12 },
    )
    const end = fc.constantFrom('go-on' as const, 'fin' as const)
    const run = async (text: string, next: 'go-on' | 'fin') => {
      const server = await FaultServer.start(({ number }) =>
        number === 0 ? { type: 'bytes', text, next } : { type: 'silence' },
      )
      const sender = senderTo(server.url, { requestTimeoutMs: 30 })
      const outcomes = await sendBatch(sender, bodies(4))
      await sender.close()
      await server.close()
      expect(outcomes.filter(({ type }) => type === 'delivered')).toEqual([])
    }
    await fc.assert(
      fc.asyncProperty(noise, end, (parts, next) => run(parts.join(''), next)),
      { seed: 5, numRuns: runs({ some: 15, all: 500 }) },
    )
  })
})
