import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createSluice, type Ledger, type Sluice, type SluiceOptions } from 'sluice'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { delivered, type Fault, FaultServer, type Request } from '../../support/fault-server.js'
import { full, rowsOf } from '../../support/full.js'

let server: FaultServer | undefined
let sluice: Sluice | undefined
// No authority signs the certificate of these tests. Where it has to be trusted, and how, is tested elsewhere.
beforeEach(() => void vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0'))
afterEach(async () => {
  vi.unstubAllEnvs()
  await sluice?.close({ timeoutMs: 0 })
  await server?.close()
  sluice = undefined
  server = undefined
})

const answer = (status: number, body = '', headers: Record<string, string> = {}): Fault => ({
  type: 'answer',
  status,
  body,
  headers,
})

const echoing = ({ headers }: Request): Fault => ({
  type: 'answer',
  status: 201,
  body: '{"result":true}',
  headers: { 'idempotency-key': headers.get('idempotency-key')! },
})

const senders = ['undici', 'pipelined', 'pipelined over TLS'] as const
type SenderName = (typeof senders)[number]

/**
 * Starts a server, and Sluice with the values lane on this sender. Sluice chooses the pipelined sender only after good answers; the
 * server forgets the requests until then.
 */
async function begin(name: SenderName, options: SluiceOptions): Promise<{ told: string[]; before: Ledger }> {
  const told: string[] = []
  server = await FaultServer.start(echoing, name === 'pipelined over TLS' ? { certificate: 'foreign' } : {})
  const onError = (error: Error) => told.push(error.message)
  const pipelining = name === 'undici' ? 'off' : 'auto'
  // The outcome is the same in the delivery worker, which takes longer to start.
  const mode = full ? 'worker' : 'inline'
  sluice = createSluice({ url: server.url, apiKey: 'k', bucket: 'b', mode, pipelining, onError, ...options })
  // On a busy machine an answer may be too late to count.
  for (let turn = 0; turn < 3 || (turn < 20 && !name.startsWith(laneOf(sluice.stats()).sender)); turn++) {
    sluice.track(turn)
    await sluice.flush()
  }
  const before = sluice.stats()
  expect(name.split(' ')[0]).toBe(laneOf(before).sender)
  server.forget()
  return { told, before }
}

/** The counts since an earlier ledger. */
function since(ledger: Ledger, before: Ledger): Ledger {
  const counts = Object.entries(ledger).map(([head, count]) =>
    typeof count === 'number' ? [head, count - Number(before[head as keyof Ledger])] : [head, count],
  )
  return Object.fromEntries(counts) as Ledger
}

/** Sends one value record to a server with this fault in its first answer. */
async function send(name: SenderName, first: Fault, options: SluiceOptions & { timeoutMs?: number } = {}) {
  const { timeoutMs = 10_000, ...more } = options
  const retry = { retryBaseMs: 5, retryCapMs: 20, requestTimeoutMs: 150 }
  const { told, before } = await begin(name, { ...retry, ...more })
  server!.script = ({ number }) => (number === 0 ? first : delivered)
  sluice!.track(1001)
  const ledger = since(await sluice!.flush({ timeoutMs }), before)
  return { ledger, told, before, requests: server!.requests.length, taken: server!.taken.length }
}

const laneOf = (ledger: Ledger) => ledger.lanes.find(({ kind }) => kind === 'values')!

// What an answer means is one table for both senders: test/http/classify.test.ts.
describe.each(rowsOf(senders, (name) => name === 'pipelined'))('an answer, over a real socket, %s sender', (name) => {
  it.each<[string, Fault]>([
    ['201 with result true', delivered],
    ['200 with result true', answer(200, '{"result":true}')],
    ['201 with an empty body', answer(201)],
    ['204', answer(204)],
    ['201 with JSON that breaks off', answer(201, '{"result":tr')],
    ['201 with JSON of another content type', answer(201, '{"result":true}', { 'content-type': 'text/html' })],
    ['201 with a body of 50 MB', { type: 'oversized' }],
    ['201 that breaks off in its body, with FIN', { type: 'fin-in-body' }],
    ['201 that breaks off in its body, with RST', { type: 'reset-in-body' }],
    ['201 with Connection: close', { type: 'close', announced: true }],
    ['201, then the connection is closed', { type: 'close', announced: false }],
  ])('%s: delivered, with one request', async (_, fault) => {
    const { ledger, requests } = await send(name, fault)
    expect(ledger).toMatchObject({ delivered: 1, requests: 1, retries: 0 })
    expect(requests).toBe(1)
  })

  it.each<[string, Fault, string]>([
    ['2xx with result false', answer(201, '{"result":false}'), 'refused the record (201)'],
    ['2xx with errors', answer(200, '{"result":true,"errors":[{"correlationId":"c","message":"no room"}]}'), 'no room'],
    [
      '400',
      answer(400, '{"result":false,"validationErrors":[{"name":"eventId","attemptedValue":1,"message":"unknown"}]}'),
      'eventId: unknown',
    ],
    ['413', answer(413, '{"errors":[{"correlationId":"c","message":"too long"}]}'), '(413): too long'],
    ['415', answer(415, '{"result":null,"validationErrors":[],"errors":[]}'), '(415)'],
    ['422', answer(422, '{"isValid":false,"validationErrors":[]}'), '(422)'],
  ])('%s: this record alone is rejected, and told why', async (_, fault, reason) => {
    const { ledger, told, requests, before } = await send(name, fault)
    expect(ledger).toMatchObject({ rejected: 1, delivered: 0, requests: 1 })
    expect(told).toEqual([expect.stringContaining(reason)])
    sluice!.track(1002)
    expect(since(await sluice!.flush(), before)).toMatchObject({ rejected: 1, delivered: 1 })
    expect(requests).toBe(1)
  })

  const pauses: [number, string[], string][] = [
    [401, ['paused', 'paused'], 'SLUICE_API_KEY'],
    [403, ['paused', 'paused'], 'permissions'],
    [404, ['open', 'paused'], 'SLUICE_BUCKET'],
    [402, ['open', 'paused'], 'plan'],
    [412, ['open', 'paused'], 'plan'],
    [301, ['open', 'paused'], 'https://elsewhere.example/'],
    [307, ['open', 'paused'], 'https://elsewhere.example/'],
  ]
  it.each(rowsOf(pauses, ([status]) => [401, 404, 402].includes(status)))(
    '%i: pauses %j (logs, values), one message, the record kept, then resumed by itself',
    async (status, states, words) => {
      const fault = answer(status, '', { location: 'https://elsewhere.example/' })
      const { told, before } = await begin(name, { probeBaseMs: 30, probeCapMs: 60 })
      server!.script = () => fault
      for (let event = 0; event < 5; event++) sluice!.track(event)
      const ledger = since(await sluice!.flush(), before)
      // One record may be in flight as a probe.
      expect(ledger).toMatchObject({ delivered: 0, rejected: 0 })
      expect(ledger.queued + ledger.inFlight).toBe(5)
      expect(ledger.lanes.map(({ state }) => state)).toEqual(states)
      expect(told).toEqual([expect.stringContaining(words)])
      expect(server!.requests.length).toBeLessThanOrEqual(4)

      const all = new Promise<void>((resolve) => {
        server!.script = () => {
          if (server!.taken.length === 4) resolve()
          return delivered
        }
      })
      await all
      expect(since(await sluice!.flush(), before)).toMatchObject({ queued: 0, delivered: 5 })
      expect(told).toHaveLength(1)
    },
  )

  it.each<[string, Fault]>([
    ['a web page', answer(200, '<!doctype html><title>Log in</title>')],
    ['a long one', answer(200, `<!doctype html>${' '.repeat(70_000)}`)],
    [
      'one that breaks off',
      { type: 'bytes', text: 'HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n<html>', next: 'fin' },
    ],
    ['a word', answer(201, 'OK')],
  ])('2xx with %s is none of the service: the lane pauses, with one message', async (_, fault) => {
    const { told, before } = await begin(name, { probeBaseMs: 30, probeCapMs: 60 })
    server!.script = () => fault
    for (let event = 0; event < 5; event++) sluice!.track(event)
    const ledger = since(await sluice!.flush(), before)
    expect(ledger).toMatchObject({ delivered: 0, rejected: 0 })
    expect(ledger.queued + ledger.inFlight).toBe(5)
    expect(laneOf(ledger).state).toBe('paused')
    expect(told.filter((each) => each.includes('not the service: a success'))).toHaveLength(1)
    server!.script = () => delivered
    await server!.arrived(5)
    expect(since(await sluice!.flush(), before)).toMatchObject({ queued: 0, delivered: 5 })
  })

  it('400 with a value nested 30,000 deep: rejected, told, and the lane goes on', async () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
    const fault = answer(400, `{"validationErrors":[{"name":"a","attemptedValue":${deep},"message":"too deep"}]}`)
    const { ledger, told, before } = await send(name, fault)
    expect(ledger).toMatchObject({ rejected: 1, requests: 1 })
    expect(told).toEqual([expect.stringContaining('a: too deep')])
    sluice!.track(1002)
    expect(since(await sluice!.flush(), before)).toMatchObject({ rejected: 1, delivered: 1 })
  })

  it.each(rowsOf([502, 504, 520, 524, 527], (status) => status === 504))(
    '%i, which a gateway gives in place of an answer that it did not get: retried and counted as ambiguous',
    async (status) => {
      const { ledger, requests } = await send(name, answer(status))
      expect(ledger).toMatchObject({ delivered: 1, retries: 1, ambiguousRetries: 1 })
      expect(requests).toBe(2)
    },
  )

  it.each([408, 425, 429, 500, 503, 507])('%i: retried', async (status) => {
    const { ledger, requests } = await send(name, answer(status))
    expect(ledger).toMatchObject({ delivered: 1, retries: 1, ambiguousRetries: 0 })
    expect(requests).toBe(2)
  })

  const headers: [string, () => string][] = [
    ['seconds', () => '1'],
    ['a date', () => new Date(Date.now() + 2000).toUTCString()],
  ]

  it.each(rowsOf(headers, ([form]) => form === 'seconds'))(
    '503 with Retry-After in %s: not sent again before',
    async (_, header) => {
      const startedAt = performance.now()
      const { ledger, requests } = await send(name, answer(503, '', { 'retry-after': header() }), { timeoutMs: 10_000 })
      expect(performance.now() - startedAt).toBeGreaterThan(900)
      expect(ledger).toMatchObject({ delivered: 1, retries: 1 })
      expect(requests).toBe(2)
    },
  )

  it.each<[string, Fault, number]>([
    ['RST before the answer', { type: 'reset-before-answer' }, 1],
    ['RST after the commit', { type: 'reset-after-commit' }, 2],
    ['FIN in the head', { type: 'fin-in-head' }, 2],
    ['bytes that are not HTTP', { type: 'garbage' }, 2],
    ['no answer', { type: 'silence' }, 1],
    ['one byte every 50 ms', { type: 'trickle', everyMs: 50 }, 2],
  ])('%s: ambiguous, retried and counted', async (_, fault, times) => {
    const { ledger, taken } = await send(name, fault)
    expect(ledger).toMatchObject({ delivered: 1, retries: 1, ambiguousRetries: 1 })
    expect(taken).toBe(times)
  })

  it('reaches listeners on node:diagnostics_channel', async () => {
    const heard: [string, unknown][] = []
    const listen = (message: unknown, name: string | symbol) => heard.push([String(name), message])
    const names = ['sluice:rejected', 'sluice:paused', 'sluice:resumed']
    for (const name of names) subscribe(name, listen)
    await begin(name, { probeBaseMs: 10, probeCapMs: 10, retryBaseMs: 5, retryCapMs: 20 })
    // The second equal answer pauses the lane.
    server!.script = ({ number }) => (number < 2 ? answer(412) : delivered)
    sluice!.track(1001)
    await Promise.all([server!.arrived(3), sluice!.flush()])
    await sluice!.flush()
    server!.script = () =>
      answer(400, '{"validationErrors":[{"name":"eventId","attemptedValue":1,"message":"unknown"}]}')
    sluice!.track(1002)
    await sluice!.flush()
    for (const name of names) unsubscribe(name, listen)
    const lane = { kind: 'values', bucket: 'b' }
    expect(heard).toEqual([
      ['sluice:paused', { ...lane, status: 412, scope: 'lane', reason: expect.stringContaining('plan') }],
      ['sluice:resumed', lane],
      ['sluice:rejected', expect.objectContaining({ ...lane, status: 400, validationErrors: [expect.anything()] })],
    ])
  })

  it.each([403, 404, 412, 302, 418])(
    '%i for one record alone pauses nothing: the others are delivered',
    async (status) => {
      const { told, before } = await begin(name, { retryBaseMs: 5, retryCapMs: 20 })
      server!.script = ({ body }) => (body.includes('"eventId":13,') ? answer(status) : delivered)
      for (let event = 10; event < 30; event++) sluice!.track(event)
      const ledger = since(await sluice!.flush(), before)
      expect(ledger).toMatchObject({ delivered: 19 })
      expect(laneOf(ledger).state).toBe('open')
      expect(told.filter((text) => !text.includes('given up'))).toEqual([])
    },
  )

  it('keeps the idempotency key of a record through its retries', async () => {
    await send(name, { type: 'reset-after-commit' })
    const keys = server!.requests.map(({ headers }) => headers.get('idempotency-key'))
    expect(keys).toHaveLength(2)
    expect(keys[0]).toBe(keys[1])
    expect(keys[0]).toMatch(/^\S{20,}$/)
  })
})
