import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { full } from '../../support/full.js'
import { ampleTime, atOnceMs, runProgram } from '../../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
  return () => receiver.close()
})

describe('an application that logs with pino', () => {
  it('has every line at the receiver after a natural end, in order, with its fields', async () => {
    const ended = await runProgram('pino-natural-end.js', {
      ...receiver.variables,
      SLUICE_APP_NAME: 'shop',
      SLUICE_ENV: 'qa',
    })
    expect(ended).toEqual({ code: 0, signal: null, stdout: '', stderr: '' })
    const logs = await receiver.logs()
    expect(logs).toHaveLength(202)
    expect(logs.find(({ message }) => message.startsWith('line 7 '))).toMatchObject({
      level: 'info',
      message: 'line 7 {"number":7}',
      appName: 'shop',
      env: 'qa',
      runtime: 1,
      runtimeVersion: process.version,
      timeStamp: expect.closeTo(Date.now(), -5),
    })
    expect(logs.find(({ level }) => level === 'warn')).toMatchObject({
      message: 'with an event {"request":"r-1"}',
      eventId: 1001,
    })
    expect(logs.find(({ level }) => level === 'error')!.message).toMatch(
      /^failed\nError: boom\n[\s\S]*caused by: Error: inner/,
    )
  })

  it.runIf(full)('takes its name from its package.json by default', async () => {
    await runProgram('pino-natural-end.js', receiver.variables)
    expect((await receiver.logs())[0]).toMatchObject({ appName: 'sluice' })
  })

  it('flushes, counts and closes pino’s worker from the main thread, even while it is still starting', async () => {
    const { stdout, stderr, code } = await runProgram('pino-flush-at-once.js', receiver.variables)
    expect({ stderr, code }).toEqual({ stderr: expect.stringContaining('1 log record dropped (closed)'), code: 0 })
    const { flushed, now, closed } = JSON.parse(stdout)
    expect(flushed).toMatchObject({ accepted: 1000, delivered: 1000, queued: 0, inFlight: 0 })
    expect(now).toEqual(flushed)
    expect(closed).toMatchObject({ accepted: 1001, delivered: 1001 })
    expect(await receiver.logs()).toHaveLength(1001)
  })

  it.runIf(full)('has its lines delivered when pino’s own flush calls back', async () => {
    const { stdout, stderr } = await runProgram('pino-logger-flush.js', receiver.variables)
    expect({ stdout, stderr }).toEqual({ stdout: '100 arrived before the callback', stderr: '' })
  })

  it.runIf(full)('can have other targets beside', async () => {
    const { stdout } = await runProgram('pino-several-targets.js', receiver.variables)
    expect(stdout.trim().split('\n')).toHaveLength(2)
    expect((await receiver.logs()).map(({ level }) => level)).toEqual(['debug', 'warn'])
  })

  it.runIf(full)('ships only from the configured level on', async () => {
    await runProgram('pino-natural-end.js', { ...receiver.variables, SLUICE_LEVEL: 'warn' })
    expect((await receiver.logs()).map(({ level }) => level)).toEqual(['warn', 'error'])
  })

  it('gets one line on stderr that Sluice is off when nothing is configured', async () => {
    const { code, stderr } = await runProgram('pino-natural-end.js')
    expect(code).toBe(0)
    expect(stderr).toBe('sluice: off: set SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET to ship logs and value events\n')
  })

  it('fails at its start, as with any target of pino, when an option in code is wrong, and says which', async () => {
    const TARGET_OPTIONS = JSON.stringify({ maxConnections: 'many' })
    const ended = await runProgram('pino-natural-end.js', { ...receiver.variables, TARGET_OPTIONS })
    expect(ended).toMatchObject({
      code: 1,
      signal: null,
      stderr: expect.stringContaining('option maxConnections: expected a whole number from 1 to 1024, got "many"'),
    })
  })

  it.runIf(full)('ends soon, and says how many lines were not delivered and why, when the key is wrong', async () => {
    const startedAt = performance.now()
    const { code, stderr } = await runProgram('pino-natural-end.js', { ...receiver.variables, SLUICE_API_KEY: 'wrong' })
    expect(code).toBe(0)
    expect(performance.now() - startedAt).toBeLessThan(4000)
    expect(stderr.trim().split('\n')).toEqual([
      'sluice: lane logs of bucket demo paused, records are kept: the key is missing or wrong (401); check SLUICE_API_KEY or SLUICE_API_KEY_FILE',
      expect.stringMatching(
        /^sluice: 202 log records dropped \(shutdown\): not delivered before the end; last error: the key/,
      ),
    ])
  })
})

describe('an application of winston and track', () => {
  it('has everything at the receiver after a natural end', async () => {
    const ended = await runProgram('natural-end.js', receiver.variables)
    expect(ended).toEqual({ code: 0, signal: null, stdout: '', stderr: '' })
    expect(await receiver.logs()).toHaveLength(200)
    expect(await receiver.values()).toHaveLength(200)
  })

  it('ends soon where nothing listens, says so at once, and says at the end how much was not delivered', async () => {
    // Nothing listens there. The port of a receiver that is closed may belong to another test's server by now.
    const nowhere = '127.0.0.1:1'
    const refusal = `connect ECONNREFUSED ${nowhere}`
    const variables = { ...receiver.variables, SLUICE_URL: `http://${nowhere}`, ...ampleTime }
    const startedAt = performance.now()
    const ended = await runProgram('natural-end.js', variables)
    expect(performance.now() - startedAt).toBeLessThan(atOnceMs)
    expect(ended).toMatchObject({
      code: 0,
      stderr: `sluice: nothing listens at http://${nowhere}; records wait in memory: start a receiver with npx sluice-receiver, or see npx sluice doctor\nsluice: 400 records not delivered before the end of the process; last error: ${refusal}\n`,
    })
  })
})

describe('track', () => {
  it('takes good numbers and counts bad ones, without ever throwing', async () => {
    const { stdout, stderr, code } = await runProgram('track-only.js', receiver.variables)
    const { ledger, stats } = JSON.parse(stdout)
    expect(ledger).toMatchObject({ accepted: 2, delivered: 2, invalid: 8 })
    expect(stats).toEqual(ledger)
    expect(code).toBe(0)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect((await receiver.values()).map(({ eventId }) => eventId).sort()).toEqual([1001, 1002])
    expect((await receiver.values('&eventId=1002'))[0]).toMatchObject({ timeStamp: 1_700_000_000_000 })
  })

  it('does nothing when nothing is configured, and says so once', async () => {
    const { stdout, stderr, code } = await runProgram('track-only.js')
    expect(JSON.parse(stdout).ledger).toMatchObject({ accepted: 0, lanes: [] })
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^sluice: off: [^\n]+\n$/) })
  })

  it('turns itself off, and says why, when the configuration is wrong', async () => {
    const { stderr, code } = await runProgram('track-only.js', { ...receiver.variables, SLUICE_URL: 'nonsense' })
    expect(code).toBe(0)
    expect(stderr).toMatch(
      /^sluice: off: SLUICE_URL \(option url\): expected [^\n]+; no records are sent until this is corrected[^\n]+\n$/,
    )
  })
})

describe('the seconds of timestampUnit', () => {
  beforeAll(() => {
    process.env.SLUICE_TIMESTAMP_UNIT = 's'
  })
  afterAll(() => {
    delete process.env.SLUICE_TIMESTAMP_UNIT
  })
  it.runIf(full)('reach the wire', async () => {
    await runProgram('track-only.js', { ...receiver.variables, SLUICE_TIMESTAMP_UNIT: 's' })
    expect((await receiver.values('&eventId=1002'))[0]).toMatchObject({ timeStamp: 1_700_000_000 })
  })
})
