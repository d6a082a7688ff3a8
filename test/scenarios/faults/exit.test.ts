import { afterEach, beforeEach, expect, it } from 'vitest'
import { delivered, type Fault, FaultServer } from '../../support/fault-server.js'
import { rowsOf } from '../../support/full.js'
import { ampleTime, atOnceMs, runProgram } from '../../support/programs.js'

let server: FaultServer
beforeEach(async () => {
  server = await FaultServer.start()
})
afterEach(() => server.close())

/** Runs a thousand `track` calls and `process.exit()`. Returns the records that the server took, and the output. */
async function exitInline(variables: Record<string, string> = { SLUICE_URL: server.url }) {
  const startedAt = performance.now()
  const { code, stderr } = await runProgram('exits.js', {
    WAY: 'track',
    END: 'exit 3',
    SLUICE_API_KEY: 'k',
    SLUICE_BUCKET: 'b',
    SLUICE_MODE: 'inline',
    SLUICE_RETRY_BASE_MS: '20',
    ...ampleTime,
    ...variables,
  })
  const events = server.taken.map((body) => (JSON.parse(body) as { eventId: number }).eventId)
  return { code, stderr, taken: events.length, distinct: new Set(events).size, ms: performance.now() - startedAt }
}

const refusal = (url: string) => `connect ECONNREFUSED ${new URL(url).host}`
const answer = (status: number, headers: Record<string, string> = {}): Fault => ({ type: 'answer', status, headers })

/** Faults of every tenth request. `duplicates` is true where the server may have taken the record. */
const troubles: Record<string, { fault: Fault; duplicates: boolean }> = {
  'a 503': { fault: answer(503), duplicates: false },
  'a 429 with Retry-After': { fault: answer(429, { 'retry-after': '0' }), duplicates: false },
  'a reset before the answer': { fault: { type: 'reset-before-answer' }, duplicates: false },
  'a reset after the record was taken': { fault: { type: 'reset-after-commit' }, duplicates: true },
  'a connection that ends in the head of the answer': { fault: { type: 'fin-in-head' }, duplicates: true },
  'bytes that are not HTTP': { fault: { type: 'garbage' }, duplicates: true },
  'a connection that ends in the body of the answer': { fault: { type: 'fin-in-body' }, duplicates: false },
  'a connection that closes after the answer, as announced': {
    fault: { type: 'close', announced: true },
    duplicates: false,
  },
  'a connection that closes after the answer, unannounced': {
    fault: { type: 'close', announced: false },
    duplicates: true,
  },
}

const pipelinings = ['auto', 'off'].flatMap((pipelining) =>
  Object.entries(troubles).map(([title, trouble]) => ({ pipelining, title, trouble })),
)

const some = ['a reset after the record was taken, auto', 'bytes that are not HTTP, auto']

it.each(rowsOf(pipelinings, ({ title, pipelining }) => some.includes(`${title}, ${pipelining}`)))(
  'an inline process.exit() delivers all in spite of $title, pipelining $pipelining',
  async (each) => {
    const { trouble, pipelining } = each
    server.script = ({ number }) => (number % 10 === 3 ? trouble.fault : delivered)
    const variables = { SLUICE_URL: server.url, SLUICE_PIPELINING: pipelining }
    const { code, stderr, distinct, taken } = await exitInline(variables)
    expect({ code, stderr, distinct }).toEqual({ code: 3, stderr: '', distinct: 1000 })
    if (!trouble.duplicates) expect(taken).toBe(1000)
    // A retry has the key of the first attempt, so that a server can recognise it.
    const keys = new Set(server.requests.map(({ headers }) => headers.get('idempotency-key')))
    expect(keys.size).toBe(1000)
  },
)

const poison: Record<string, Fault> = {
  'a 500': answer(500),
  'a 403': answer(403),
  'a 429 that asks to wait an hour': answer(429, { 'retry-after': '3600' }),
  'a reset': { type: 'reset-before-answer' },
  'no answer': { type: 'silence' },
}

const ends = ['inline', 'worker'].flatMap((mode) =>
  Object.entries(poison).map(([title, fault]) => ({ mode, title, fault })),
)

it.each(rowsOf(ends, ({ mode, title }) => mode === 'inline' && title === 'a 500'))(
  'process.exit() delivers all behind a record that always gets $title, mode $mode',
  async ({ mode, fault }) => {
    server.script = ({ body }) => ((JSON.parse(body) as { eventId: number }).eventId === 0 ? fault : delivered)
    const { code, stderr, distinct } = await exitInline({
      SLUICE_URL: server.url,
      SLUICE_MODE: mode,
      // A silent service may still answer, so the end waits until its deadline.
      SLUICE_SHUTDOWN_TIMEOUT_MS: fault.type === 'silence' ? '6000' : '5000',
    })
    const taken = new Set(server.taken.map((body) => (JSON.parse(body) as { eventId: number }).eventId))
    expect({ code, distinct, bad: taken.has(0) }).toEqual({ code: 3, distinct: 999, bad: false })
    // It is rejected only if there was time for enough attempts.
    expect(stderr).toMatch(/last error: |1 value record rejected: failed again and again/)
  },
)

it('an inline process.exit() ends at once when the key is wrong, and says what that means', async () => {
  server.script = () => answer(401)
  const { code, stderr, ms } = await exitInline()
  expect(code).toBe(3)
  expect(stderr).toContain('the key is missing or wrong (401)')
  expect(stderr).toContain('sluice: 1000 records not delivered before the end of the process; last error: the key is')
  expect(ms).toBeLessThan(atOnceMs)
})

it('an inline process.exit() to an address at which nothing has ever listened ends at once, and says so', async () => {
  const { url } = server
  await server.close()
  const { code, stderr, ms } = await exitInline({ SLUICE_URL: url })
  expect(ms).toBeLessThan(atOnceMs)
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: `sluice: nothing listens at ${url}; records wait in memory: start a receiver with npx sluice-receiver, or see npx sluice doctor\nsluice: 1000 records not delivered before the end of the process; last error: ${refusal(url)}\n`,
  })
  server = await FaultServer.start()
})
