import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { delivered, type Fault, FaultServer, type Request } from '../support/fault-server.js'
import { startProgram } from '../support/programs.js'
import { startProxy } from '../support/proxy.js'

const certificates = join(import.meta.dirname, '../support/certificates')

interface Report {
  readonly outcomes: Readonly<Record<string, number>>
  readonly reason: string
  /** Most records in one batch. */
  readonly deepest: number
  /** Most requests on a connection at the end. */
  readonly lastDepth: number
  readonly ms: number
}

/** Deliver from an `exit` listener. */
async function exit(variables: Record<string, string>): Promise<Report> {
  const { code, stdout, stderr } = await startProgram('exit-loop.js', { variables }).ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as Report
}

async function serve(
  script: (request: Request) => Fault = () => delivered,
  options: Parameters<typeof FaultServer.start>[1] = {},
): Promise<FaultServer> {
  const server = await FaultServer.start(script, options)
  onTestFinished(() => server.close())
  return server
}

async function proxyTo(server: FaultServer, options?: Parameters<typeof startProxy>[1]) {
  const proxy = await startProxy(() => server.port, options)
  onTestFinished(() => proxy.close())
  return proxy
}

const echoing = ({ headers }: Request): Fault => ({
  ...delivered,
  type: 'answer',
  status: 201,
  headers: { 'idempotency-key': headers.get('idempotency-key')! },
})

it.each([
  { former: 'pipelined 256', title: 'that is known to take pipelined requests', deepest: 256 },
  { former: 'pipelined 1', title: 'of which nothing is known', deepest: 256 },
  { former: 'undici 1', title: 'where nothing is pipelined', deepest: 1 },
])('20,000 records are delivered in an exit listener, to a server $title', async ({ former, deepest }) => {
  const server = await serve()
  const { ms, ...report } = await exit({ URL: server.url, COUNT: '20000', FORMER: former })
  expect(report).toMatchObject({ outcomes: { delivered: 20_000 }, deepest })
  expect(new Set(server.taken).size).toBe(20_000)
  expect(server.connections).toBeLessThanOrEqual(4)
  console.log(`20,000 records in ${ms} ms, ${former}`)
})

it('values are pipelined only where the server echoes their keys', async () => {
  const server = await serve()
  const about = { URL: server.url, COUNT: '100', KIND: 'values', FORMER: 'pipelined 1' }
  expect(await exit(about)).toMatchObject({ outcomes: { delivered: 100 }, deepest: 1 })
  server.script = echoing
  expect((await exit(about)).deepest).toBeGreaterThan(1)
})

const nothing: Fault = { type: 'silence' }
const faults: Record<string, { fault: Fault; outcomes: Record<string, number>; reason: string }> = {
  'resets each connection': {
    fault: { type: 'reset-before-answer' },
    outcomes: { ambiguous: 8 },
    reason: 'read ECONNRESET',
  },
  'never answers': { fault: nothing, outcomes: { ambiguous: 8 }, reason: 'no answer within 500 ms' },
  'announces that it hangs up after each answer': {
    fault: { type: 'close', announced: true },
    outcomes: { delivered: 8 },
    reason: '',
  },
  'does not speak HTTP': {
    fault: { type: 'garbage' },
    outcomes: { ambiguous: 8 },
    reason: 'the answer is not understood: ',
  },
  'sends far more than an answer': { fault: { type: 'oversized' }, outcomes: { delivered: 8 }, reason: '' },
}

it.each(Object.entries(faults))('a server that %s: each record has its outcome', async (_, expected) => {
  const server = await serve(() => expected.fault)
  const report = await exit({ URL: server.url, COUNT: '8', TIMEOUT_MS: '500' })
  expect(report).toMatchObject({ outcomes: expected.outcomes, reason: expect.stringContaining(expected.reason) })
})

it('a server that hangs up after each answer, unannounced: each record has its outcome, on connection after connection', async () => {
  const server = await serve(() => ({ type: 'close', announced: false }))
  const { outcomes } = await exit({ URL: server.url, COUNT: '40', FORMER: 'pipelined 4' })
  const { delivered: good = 0, ambiguous = 0, ...rest } = outcomes
  expect({ all: good + ambiguous, rest }).toEqual({ all: 40, rest: {} })
  expect(good).toBe(server.taken.length)
})

it('connections that break again and again: one request at a time goes out then', async () => {
  const server = await serve(({ number }) => (number % 100 === 99 ? { type: 'fin-in-head' } : delivered))
  const { outcomes, lastDepth } = await exit({ URL: server.url, COUNT: '6000', FORMER: 'pipelined 256' })
  const { delivered: good = 0, ambiguous = 0, ...rest } = outcomes
  expect({ all: good + ambiguous, rest }).toEqual({ all: 6000, rest: {} })
  expect(ambiguous).toBeGreaterThan(0)
  expect(good).toBeGreaterThan(1000)
  expect(lastDepth).toBe(1)
})

it('a server that is not there: each record is unsent, with the reason of the system', async () => {
  const server = await FaultServer.start()
  const { url } = server
  await server.close()
  const { outcomes, reason } = await exit({ URL: url, COUNT: '8' })
  expect({ outcomes, reason }).toEqual({
    outcomes: { unsent: 8 },
    reason: `connect ECONNREFUSED ${url.replace('http://', '')}`,
  })
})

it('over TLS, a server is believed by its authority and its name', async () => {
  const CA = join(certificates, 'foreign.pem')
  const server = await serve(undefined, { certificate: 'foreign' })
  expect(await exit({ URL: server.url, COUNT: '2000', FORMER: 'pipelined 256', CA })).toMatchObject({
    outcomes: { delivered: 2000 },
  })
  expect(await exit({ URL: `https://127.0.0.1:${server.port}`, COUNT: '8', CA })).toMatchObject({
    outcomes: { delivered: 8 },
  })
  expect(new Set(server.taken).size).toBe(2000)
  const foreign = { outcomes: { unsent: 8 }, reason: expect.stringContaining('self-signed') }
  expect(await exit({ URL: server.url, COUNT: '8' })).toMatchObject(foreign)
  const other = await serve(undefined, { certificate: 'service' })
  expect(await exit({ URL: other.url, COUNT: '8', CA: join(certificates, 'service.pem') })).toMatchObject({
    outcomes: { unsent: 8 },
    reason: expect.stringContaining('altnames'),
  })
})

it('a server with https is reached in a tunnel through the proxy', async () => {
  const server = await serve(undefined, { certificate: 'service' })
  const proxy = await proxyTo(server)
  const about = {
    URL: 'https://service.example',
    PROXY_URL: proxy.url,
    CA: join(certificates, 'service.pem'),
    COUNT: '100',
  }
  expect(await exit(about)).toMatchObject({ outcomes: { delivered: 100 } })
  expect(new Set(server.taken).size).toBe(100)
  expect(new Set(proxy.asked)).toEqual(new Set(['CONNECT service.example:443']))
  expect(proxy.credentials).toEqual(new Set([`Basic ${btoa('user:p@ss')}`]))
  expect(server.requests.some(({ headers }) => headers.has('proxy-authorization'))).toBe(false)
  proxy.refuse = 407
  expect(await exit(about)).toMatchObject({ outcomes: { unsent: 100 }, reason: 'the proxy answered 407' })
})

it('a server with http is reached by requests to the proxy', async () => {
  const server = await serve()
  const proxy = await proxyTo(server)
  const about = { URL: 'http://service.example:8080/base', PROXY_URL: proxy.url, COUNT: '100' }
  expect(await exit(about)).toMatchObject({ outcomes: { delivered: 100 } })
  expect(new Set(server.taken).size).toBe(100)
  expect(new Set(proxy.asked)).toEqual(new Set(['POST http://service.example:8080/base/logs/b']))
  expect(proxy.credentials).toEqual(new Set([`Basic ${btoa('user:p@ss')}`]))
  expect(new Set(server.requests.map(({ headers }) => headers.get('host')))).toEqual(new Set(['service.example:8080']))
})

it('the proxy itself is reached by TLS, with a tunnel inside and without', async () => {
  const foreign = join(certificates, 'foreign.pem')
  const secure = await serve(undefined, { certificate: 'service' })
  const outer = await proxyTo(secure, { certificate: 'foreign' })
  const about = { COUNT: '100', NODE_EXTRA_CA_CERTS: foreign }
  const CA = join(certificates, 'service.pem')
  expect(await exit({ ...about, URL: 'https://service.example', PROXY_URL: outer.url, CA })).toMatchObject({
    outcomes: { delivered: 100 },
  })
  expect(new Set(outer.asked)).toEqual(new Set(['CONNECT service.example:443']))
  const plain = await serve()
  const proxy = await proxyTo(plain, { certificate: 'foreign' })
  expect(await exit({ ...about, URL: 'http://service.example', PROXY_URL: proxy.url })).toMatchObject({
    outcomes: { delivered: 100 },
  })
  expect(new Set(proxy.asked)).toEqual(new Set(['POST http://service.example/logs/b']))
  expect(proxy.credentials).toEqual(new Set([`Basic ${btoa('user:p@ss')}`]))
})

it('where no thread is allowed there is no such loop', async () => {
  const folders = ['--experimental-permission', '--allow-fs-read=*', '--allow-fs-write=*', '--allow-child-process']
  const { ended } = startProgram('exit-loop.js', { flags: [...folders, '--no-warnings'], variables: { COUNT: '1' } })
  expect(await ended).toMatchObject({ code: 0, stdout: 'no thread\n' })
})
