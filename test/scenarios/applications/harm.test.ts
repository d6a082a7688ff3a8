import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { createSluice, flush, type Sluice } from 'sluice'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { delivered, FaultServer } from '../../support/fault-server.js'
import { full, rowsOf } from '../../support/full.js'
import { ampleTime, atOnceMs, runProgram, startProgram } from '../../support/programs.js'

let server: FaultServer
let sluice: Sluice | undefined
beforeEach(async () => {
  server = await FaultServer.start()
})
afterEach(async () => {
  await sluice?.close({ timeoutMs: 0 })
  sluice = undefined
  await server.close()
})

const destination = () => ({ url: server.url, apiKey: 'k', bucket: 'b', onError: () => {} })
const variables = () => ({ SLUICE_URL: server.url, SLUICE_API_KEY: 'k', SLUICE_BUCKET: 'b' })

async function timed<T>(work: Promise<T>): Promise<{ result: T; ms: number }> {
  const startedAt = performance.now()
  const result = await work
  return { result, ms: performance.now() - startedAt }
}

/**
 * How much later than a timer for its deadline the work has ended, in milliseconds, or than what begins then: on a busy machine, they are
 * late themselves.
 */
async function lateBy<T>(
  deadlineMs: number,
  work: Promise<T>,
  begin: () => Promise<unknown> = async () => {},
): Promise<{ result: T; lateMs: number }> {
  const usual = wait(deadlineMs)
    .then(begin)
    .then(() => performance.now())
  const result = await work
  const endedAt = performance.now()
  return { result, lateMs: endedAt - (await usual) }
}

describe('a server that accepts and never answers', () => {
  it('does not hold a flush beyond its deadline', { retry: 3 }, async () => {
    server.script = () => ({ type: 'silence' })
    sluice = createSluice(destination())
    sluice.track(1)
    for (const timeoutMs of [0, 1, 200]) {
      const { result, lateMs } = await lateBy(timeoutMs, sluice.flush({ timeoutMs }))
      expect(result).toMatchObject({ accepted: 1, delivered: 0 })
      expect(result.queued + result.inFlight).toBe(1)
      expect(lateMs).toBeLessThan(50)
    }
  })

  it('does not hold a flush of the process that names no deadline beyond shutdownTimeoutMs', { retry: 3 }, async () => {
    server.script = () => ({ type: 'silence' })
    sluice = createSluice({ ...destination(), shutdownTimeoutMs: 300 })
    sluice.track(1)
    const { result, lateMs } = await lateBy(300, flush())
    expect(result.queued + result.inFlight).toBe(1)
    expect(lateMs).toBeLessThan(50)
  })

  it('does not hold a close beyond its deadline, and what it took is counted', { retry: 3 }, async () => {
    server.script = () => ({ type: 'silence' })
    // A close ends a thread.
    const other = new Worker('setInterval(() => {}, 1000)', { eval: true })
    await once(other, 'online')
    sluice = createSluice(destination())
    for (let event = 0; event < 10; event++) sluice.track(event)
    const { result, lateMs } = await lateBy(200, sluice.close({ timeoutMs: 200 }), () => other.terminate())
    expect(result).toMatchObject({ queued: 0, inFlight: 0, dropped: { shutdown: 10 } })
    expect(lateMs).toBeLessThan(50)
  })

  it.runIf(full)('does not hold a process by a connection that has been idle before', async () => {
    server.script = ({ number }) => (number === 0 ? delivered : { type: 'silence' })
    const { result, ms } = await timed(
      runProgram('second-request-unanswered.js', {
        ...variables(),
        SLUICE_SHUTDOWN_TIMEOUT_MS: '300',
        SLUICE_MAX_CONNECTIONS: '1',
      }),
    )
    expect(result).toMatchObject({ code: 0, stderr: expect.stringContaining('1 record not delivered') })
    expect(ms).toBeLessThan(300 + 4000)
  })

  it('does not hold a process that ends by itself beyond shutdownTimeoutMs', async () => {
    server.script = () => ({ type: 'silence' })
    const { result, ms } = await timed(
      runProgram('track-and-end.js', { ...variables(), SLUICE_SHUTDOWN_TIMEOUT_MS: '300' }),
    )
    expect(result).toMatchObject({
      code: 0,
      stderr:
        'sluice: 1 record not delivered before the end of the process; last error: the service did not answer in time; up to 1 of them may have arrived\n',
    })
    expect(ms).toBeLessThan(300 + 4000)
  })
})

describe('what a service says', () => {
  it('comes to stderr on the line that tells of it, without control characters, and cut', async () => {
    const message = `no\nsluice: all is well\r\u001b[31m${'x'.repeat(50_000)}`
    server.script = () => ({ type: 'answer', status: 400, body: JSON.stringify({ errors: [{ message }] }) })
    const { code, stderr } = await runProgram('track-and-end.js', variables())
    expect(code).toBe(0)
    expect(stderr).toMatch(/^sluice: 1 value record rejected: [^\p{Cc}]*: no sluice: all is well \[31mx+…\n$/u)
    expect(stderr.length).toBeLessThan(2100)
  })
})

describe('a process that has nothing more to do', () => {
  it('ends, whatever connections are open', async () => {
    const { result, ms } = await timed(runProgram('idle-after-delivery.js', { ...variables(), ...ampleTime }))
    expect(result).toEqual({ code: 0, signal: null, stdout: 'delivered 1', stderr: '' })
    expect(ms).toBeLessThan(atOnceMs)
  })

  it.runIf(full)('ends soon though it has flushed again and again during an outage', async () => {
    const unreachable = { ...variables(), SLUICE_SHUTDOWN_TIMEOUT_MS: '500' }
    await server.close()
    const { result, ms } = await timed(runProgram('flushes-in-outage.js', unreachable))
    expect(result).toMatchObject({ code: 0, stderr: expect.stringContaining('21 ') })
    expect(ms).toBeLessThan(atOnceMs)
  })

  it.runIf(full)('says nothing, however often it flushes while pino’s worker is starting', async () => {
    const ended = await runProgram('flushes-at-start.js', variables())
    expect(ended).toEqual({ code: 0, signal: null, stdout: '', stderr: '' })
  })

  it('ends soon during an outage, and says what it could not deliver', async () => {
    const unreachable = { ...variables(), SLUICE_SHUTDOWN_TIMEOUT_MS: '200' }
    await server.close()
    const { result, ms } = await timed(runProgram('track-and-end.js', unreachable))
    expect(result).toMatchObject({ code: 0, stderr: expect.stringContaining('1 record not delivered') })
    expect(ms).toBeLessThan(atOnceMs)
  })
})

describe('flushes, closes and new records all at once', () => {
  it('settle, each record exactly once', async () => {
    server.script = ({ number }) => (number % 7 === 0 ? { type: 'answer', status: 503 } : delivered)
    sluice = createSluice({ ...destination(), retryBaseMs: 1, retryCapMs: 5 })
    const drains: Promise<unknown>[] = []
    for (let turn = 0; turn < 50; turn++) {
      for (let event = 0; event < 10; event++) sluice.track(turn * 10 + event)
      drains.push(sluice.flush({ timeoutMs: 30_000 }))
      if (turn % 10 === 9) await new Promise((resolve) => setImmediate(resolve))
      if (turn > 40) drains.push(sluice.close({ timeoutMs: 30_000 }))
    }
    await Promise.all(drains)
    const ledger = sluice.stats()
    expect(ledger).toMatchObject({ accepted: 500, queued: 0, inFlight: 0, rejected: 0, ambiguousRetries: 0 })
    expect(ledger.delivered + ledger.dropped.closed).toBe(500)
    expect(ledger.delivered).toBeGreaterThanOrEqual(420)
    const events = server.taken.map((body) => (JSON.parse(body) as { eventId: number }).eventId)
    expect(new Set(events).size).toBe(events.length)
    expect(events).toHaveLength(ledger.delivered)
  })
})

describe('100,000 lost records', () => {
  const modes: [string, Record<string, string>, number][] = [
    ['worker', {}, 100_100],
    ['inline', {}, 100_100],
    ['worker, which ends with news of its own', { LATE: '1' }, 100_300],
  ]

  it.each(rowsOf(modes, ([mode]) => mode === 'worker'))(
    'cause a few lines on stderr, add up everywhere, and survive a listener that throws, mode %s',
    async (mode, env, count) => {
      const { code, stdout, stderr } = await runProgram('lose-many.js', { ...env, SLUICE_MODE: mode.split(',')[0]! })
      expect(code).toBe(0)
      const { ledger, published, called } = JSON.parse(stdout)
      expect(ledger).toMatchObject({ accepted: count, delivered: 0, queued: 0, inFlight: 0 })
      expect(ledger.dropped['queue-full'] + ledger.dropped.shutdown).toBe(count)
      expect(published).toBe(count)
      expect(called).toBeGreaterThanOrEqual(1)
      const lines = stderr.trim().split('\n')
      expect(lines.length).toBeLessThan(10)
      const told = lines.map((line) => Number(/^sluice: (\d+) value records? dropped/.exec(line)?.[1] ?? 0))
      expect(told.reduce((sum, count) => sum + count, 0)).toBe(count)
    },
  )
})

describe('a process that runs out of file descriptors', () => {
  it.runIf(full).each(['auto', 'off'])(
    'gets back some of those of connections (pipelining: %s)',
    async (pipelining) => {
      server.script = () => ({ ...delivered, afterMs: 200 })
      const running = startProgram('few-descriptors.js', {
        before: 'ulimit -n 40',
        variables: {
          ...variables(),
          SLUICE_PIPELINING: pipelining,
          SLUICE_SHUTDOWN_TIMEOUT_MS: '100',
        },
      })
      expect((await running.ended).stdout).toBe('true 400\n')
    },
  )
})
