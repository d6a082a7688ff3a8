import { subscribe } from 'node:diagnostics_channel'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createSluice, type Ledger, type Sluice, type SluiceError } from 'sluice'
import { SluiceTransport } from 'sluice/winston'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import winston from 'winston'
import { delivered, FaultServer } from '../../support/fault-server.js'
import { full } from '../../support/full.js'
import { runProgram, startProgram } from '../../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

let data: string
let receiver: TestReceiver
let sluice: Sluice | undefined

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'sluice-test-'))
  receiver = await startTestReceiver({ data })
})
afterEach(async () => {
  await sluice?.close({ timeoutMs: 0 })
  sluice = undefined
  await receiver.close()
  await rm(data, { recursive: true })
})

/** In this thread, where the bounds can be watched record by record. */
const quick = { mode: 'inline', retryBaseMs: 10, retryCapMs: 50, onError: () => {} } as const
const portOf = (url: string) => Number(new URL(url).port)

function dropped({ dropped }: Ledger): number {
  return Object.values(dropped).reduce((sum, count) => sum + count, 0)
}

describe('when the service is down and then up again', () => {
  it('delivers every record once, those from before, during and after', async () => {
    sluice = createSluice({ ...receiver.options, ...quick })
    for (let event = 0; event < 100; event++) sluice.track(event)
    await sluice.flush()
    await receiver.close()

    for (let event = 100; event < 200; event++) sluice.track(event)
    const during = await sluice.flush({ timeoutMs: 300 })
    expect(during).toMatchObject({ accepted: 200, delivered: 100 })
    expect(during.queued + during.inFlight).toBe(100)
    expect(during.lanes.find(({ kind }) => kind === 'values')).toMatchObject({
      state: 'outage',
      lastError: expect.stringContaining('ECONNREFUSED'),
    })

    receiver = await startTestReceiver({ data, port: portOf(receiver.url), knownKey: receiver.apiKey })
    for (let event = 200; event < 300; event++) sluice.track(event)
    const after = await sluice.flush({ timeoutMs: 10_000 })
    expect(after).toMatchObject({ accepted: 300, delivered: 300, queued: 0, inFlight: 0, rejected: 0 })
    const events = (await receiver.values()).map(({ eventId }) => eventId).sort((a, b) => a - b)
    expect(events).toEqual(Array.from({ length: 300 }, (_, event) => event))
  })
})

describe('an outage that lasts', () => {
  it.runIf(full)('is reported once, with the reason, wherever the records come from, and so is its end', async () => {
    await receiver.close()
    const { url, variables } = receiver
    const refusal = `connect ECONNREFUSED ${new URL(url).host}`
    const program = startProgram('signals.js', {
      // The import keeps pino's worker, which would end with the logger: nothing here holds on to it.
      variables: { ...variables, WAY: 'pino', IMPORT: 'first', SLUICE_RETRY_BASE_MS: '10', SLUICE_RETRY_CAP_MS: '50' },
    })
    const lines = createInterface(program.process.stderr)[Symbol.asyncIterator]()
    // The first refusal tells it: the outage is not told once more on stderr. The program's outage begins before the one below, and so lasts 10 s.
    expect((await lines.next()).value).toBe(
      `sluice: nothing listens at ${url}; records wait in memory: start a receiver with npx sluice-receiver, or see npx sluice doctor`,
    )

    const outage = new Promise<unknown>((resolve) => subscribe('sluice:outage', resolve))
    const told: SluiceError[] = []
    sluice = createSluice({ ...receiver.options, ...quick, onError: (error) => told.push(error) })
    sluice.track(1)
    expect(await outage).toEqual({ kind: 'values', bucket: 'demo', reason: refusal })
    await vi.waitFor(() => expect(told).toHaveLength(1))
    expect(told[0]).toMatchObject({
      code: 'SLUICE_OUTAGE',
      message: `lane values of bucket demo has delivered nothing for 10 s, records are kept: ${refusal}`,
    })
    const resumed = new Promise<unknown>((resolve) => subscribe('sluice:resumed', resolve))
    receiver = await startTestReceiver({ data, port: portOf(url), knownKey: receiver.apiKey })
    expect(await resumed).toEqual({ kind: 'values', bucket: 'demo' })
    expect((await lines.next()).value).toBe('sluice: lane logs of bucket demo resumed')
    program.process.kill('SIGKILL')
    await program.ended
  })
})

describe('when the queue is full', () => {
  it('keeps the newest up to the bound, counts what it drops, and says so', async () => {
    const told: string[] = []
    await receiver.close()
    const onError = (error: Error) => told.push(error.message)
    sluice = createSluice({ ...receiver.options, ...quick, maxQueueRecords: 50, onError })
    for (let event = 0; event < 1000; event++) sluice.track(event)
    const during = sluice.stats()
    expect(during.queued + during.inFlight).toBe(50)
    expect(dropped(during)).toBe(950)
    expect(during.dropped['queue-full']).toBe(950)

    receiver = await startTestReceiver({ data, port: portOf(receiver.url), knownKey: receiver.apiKey })
    await sluice.flush({ timeoutMs: 10_000 })
    const after = await sluice.flush({ timeoutMs: 10_000 })
    expect(after).toMatchObject({ accepted: 1001, delivered: 51, queued: 0, inFlight: 0 })
    expect(await receiver.logs()).toEqual([
      expect.objectContaining({
        level: 'warn',
        message: expect.stringMatching(/^sluice: 950 value records lost from 20\S+Z to 20\S+Z \(queue-full 950\)$/),
      }),
    ])
    expect(told).toEqual([expect.stringContaining('950 value records dropped (queue-full)')])
    const events = (await receiver.values()).map(({ eventId }) => eventId).sort((a, b) => a - b)
    expect(events).toEqual(Array.from({ length: 50 }, (_, index) => 950 + index))
  })
})

describe('when logs and values compete for the room', () => {
  it('lets no flood of errors cost a value record', async () => {
    await receiver.close()
    const options = { ...receiver.options, ...quick, maxQueueRecords: 20 }
    sluice = createSluice(options)
    const logger = winston.createLogger({ transports: [new SluiceTransport(options)] })
    for (let event = 0; event < 10; event++) sluice.track(event)
    for (let number = 0; number < 500; number++) logger.error(`error ${number}`)
    const lanes = Object.fromEntries(sluice.stats().lanes.map((lane) => [lane.kind, lane]))
    expect(lanes.values).toMatchObject({ accepted: 10, queued: 10, dropped: { 'queue-full': 0 } })
    expect(lanes.logs).toMatchObject({ accepted: 500, queued: 10, dropped: { 'queue-full': 490 } })
    logger.close()
    receiver = await startTestReceiver({ data })
  })
})

describe('when the service refuses', () => {
  it('pauses on a wrong key and tells once, with the records kept', async () => {
    const told: string[] = []
    const onError = (error: Error) => told.push(error.message)
    sluice = createSluice({ ...receiver.options, ...quick, onError, apiKey: 'wrong' })
    for (let event = 0; event < 10; event++) sluice.track(event)
    const ledger = await sluice.flush()
    expect(ledger).toMatchObject({ accepted: 10, queued: 10, delivered: 0 })
    expect(ledger.lanes.map(({ state }) => state)).toEqual(['paused', 'paused'])
    expect(told).toEqual([expect.stringContaining('check SLUICE_API_KEY')])
  })

  it('pauses on an unknown bucket', async () => {
    const told: string[] = []
    const onError = (error: Error) => told.push(error.message)
    sluice = createSluice({ ...receiver.options, ...quick, onError, bucket: 'elsewhere' })
    sluice.track(1)
    expect(await sluice.flush()).toMatchObject({ queued: 1, delivered: 0 })
    expect(told).toEqual([expect.stringContaining('check SLUICE_BUCKET')])
  })
})

it.runIf(full)('the same trouble of two engines is reported once', async () => {
  const { stderr } = await runProgram('two-engines-one-trouble.js', { ...receiver.variables, SLUICE_API_KEY: 'wrong' })
  expect(stderr.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^sluice: lane logs of bucket demo paused, records are kept: the key/),
    expect.stringMatching(/^sluice: 2 records not delivered before the end of the process; last error: the key/),
  ])
})

describe('an instance', () => {
  it.runIf(full)('is disposed of by await using, delivering first', async () => {
    {
      await using inner = createSluice({ ...receiver.options })
      inner.track(7)
    }
    expect((await receiver.values()).map(({ eventId }) => eventId)).toEqual([7])
  })

  it.runIf(full)('closes twice as well as once, and counts what comes after', async () => {
    sluice = createSluice({ ...receiver.options, onError: () => {} })
    sluice.track(1)
    expect(await sluice.close()).toMatchObject({ accepted: 1, delivered: 1 })
    sluice.track(2)
    expect(await sluice.close()).toMatchObject({ accepted: 2, delivered: 1, dropped: { closed: 1 } })
  })
})

describe('the key', () => {
  it.runIf(full).each(['worker', 'inline'])(
    'is nowhere to be seen, in mode %s: neither printed nor told nor in any object',
    async (mode) => {
      const key = 'K3y-that-must-not-be-seen'
      const variables = { ...receiver.variables, SLUICE_API_KEY: key, SLUICE_DEBUG: 'true', SLUICE_MODE: mode }
      const { code, stdout, stderr } = await runProgram('key-everywhere.js', variables)
      expect(code).toBe(0)
      expect(stdout.length).toBeGreaterThan(10_000)
      expect(stderr).toContain('apiKey="[redacted]" (SLUICE_API_KEY)')
      expect(stderr).toContain('the key is missing or wrong (401)')
      const all = (stdout + stderr).split('\n')
      // The environment is the application's own.
      expect(all.filter((line) => line.includes(key) && !line.includes('SLUICE_API_KEY'))).toEqual([])
      expect(stderr).not.toContain(key)
    },
  )

  const all = [
    { way: 'worker', variables: { SLUICE_MODE: 'worker' } },
    { way: 'inline', variables: { SLUICE_MODE: 'inline' } },
    { way: 'inline at process.exit()', variables: { SLUICE_MODE: 'inline', END: 'exit 0' } },
    { way: 'inline, not pipelined', variables: { SLUICE_MODE: 'inline', SLUICE_PIPELINING: 'off' } },
  ]

  it.runIf(full).each(all)('is not told where the service repeats it in its answers, $way', async ({ variables }) => {
    const key = 'K3y-that-must-not-be-"seen"'
    const error = { name: 'key', attemptedValue: { key }, message: `not for ${key}` }
    const server = await FaultServer.start(({ number }) =>
      number === 0 ? delivered : { type: 'answer', status: 400, body: JSON.stringify({ validationErrors: [error] }) },
    )
    onTestFinished(() => server.close())
    const all = {
      SLUICE_URL: server.url,
      SLUICE_API_KEY: key,
      SLUICE_BUCKET: 'b',
      SLUICE_DEBUG: 'true',
      ...variables,
    }
    const program = 'END' in variables ? 'exits.js' : 'key-everywhere.js'
    const { stdout, stderr } = await runProgram(program, { WAY: 'track', ...all })
    expect(stderr).toContain('key: not for [redacted]')
    expect(stdout + stderr).not.toMatch(/K3y-that(?!.*SLUICE_API_KEY)/)
    expect(stderr).not.toContain('K3y-that')
  })
})
