import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import type { Ledger } from 'sluice'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { delivered, FaultServer } from '../../support/fault-server.js'
import { full, rowsOf } from '../../support/full.js'
import { ampleTime, atOnceMs, runProgram } from '../../support/programs.js'

const anHourMs = 3_600_000
/** `shutdownTimeoutMs` in an outage: the start of a program takes less. */
const outageMs = 4000
/** Records of one invocation. */
const perInvocation = 20

let server: FaultServer
beforeEach(async () => {
  server = await FaultServer.start()
})
afterEach(() => server.close())

/** The function in its runtime, which freezes and thaws it. */
function startFunction(variables: Record<string, string>) {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../fixtures/serverless.js')], {
    env: { PATH: process.env.PATH, SLUICE_URL: server.url, SLUICE_API_KEY: 'k', SLUICE_BUCKET: 'b', ...variables },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const exit = once(child, 'close')
  const stderr = text(child.stderr)
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const state = () => readFileSync(`/proc/${child.pid}/stat`, 'latin1').split(') ')[1]?.[0]
  return {
    /** Ask for an invocation; resolves with the ledger that it answers with. */
    invoke: async (invocation: number): Promise<Ledger> => {
      child.stdin.write(`${invocation}\n`)
      return JSON.parse((await answers.next()).value)
    },
    freeze: async () => {
      child.kill('SIGSTOP')
      await vi.waitFor(() => expect(state()).toBe('T'), { interval: 1 })
    },
    thaw: () => child.kill('SIGCONT'),
    end: async () => {
      child.stdin.end()
      const [code] = await exit
      return { code, stderr: await stderr }
    },
  }
}

const modes: [string, Record<string, string>][] = [
  ['inline', { SLUICE_MODE: 'inline' }],
  ['inline, for it runs on AWS Lambda', { AWS_LAMBDA_FUNCTION_NAME: 'checkout' }],
  ['inline, by waitUntil of Vercel', { VERCEL: '1', WAITS: 'true' }],
  ['in a worker', { SLUICE_MODE: 'worker' }],
  ['in a worker, by waitUntil', { SLUICE_MODE: 'worker', WAITS: 'true' }],
]

const modeNames = ['inline', 'worker']

it.each(rowsOf(modeNames, (mode) => mode === 'inline'))(
  'waitUntil keeps no process alive that has delivered, mode %s',
  async (mode) => {
    const lambda = startFunction({ SLUICE_MODE: mode, WAITS: 'true', ...ampleTime })
    await lambda.invoke(1)
    const start = performance.now()
    expect(await lambda.end()).toEqual({ code: 0, stderr: '' })
    expect(performance.now() - start).toBeLessThan(atOnceMs)
  },
)

it.runIf(full).each(modeNames)('waitUntil adds nothing to the time of an end in an outage, mode %s', async (mode) => {
  server.script = () => ({ ...delivered, status: 503 })
  const variables = { SLUICE_URL: server.url, SLUICE_API_KEY: 'k', SLUICE_BUCKET: 'b' }
  const start = performance.now()
  const { code, stderr } = await runProgram('waits-in-outage.js', {
    ...variables,
    SLUICE_MODE: mode,
    SLUICE_SHUTDOWN_TIMEOUT_MS: `${outageMs}`,
  })
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('1 record not delivered') })
  // The deadline of a flush and then that of the end would be twice this time.
  expect(performance.now() - start).toBeLessThan(2 * outageMs)
})

// /proc shows that a process has stopped.
describe.runIf(process.platform === 'linux').each(rowsOf(modes, ([name]) => /Vercel/.test(name)))(
  'a serverless function that delivers %s',
  (_, variables) => {
    it.each(rowsOf(['before', 'after'], (hungUp) => hungUp === 'before'))(
      'delivers each record once when the service hangs up while it is frozen, %s the next invocation has come',
      async (hungUp) => {
        const lambda = startFunction(variables)
        for (let invocation = 1; invocation <= 5; invocation++) {
          if (hungUp === 'before') await server.hangUp()
          const answer = lambda.invoke(invocation)
          if (hungUp === 'after') await server.hangUp()
          lambda.thaw()
          const ledger = await answer
          const accepted = perInvocation * invocation
          expect(ledger).toMatchObject({ accepted, delivered: accepted, queued: 0, inFlight: 0 })
          await lambda.freeze()
          expect(server.requests).toHaveLength(accepted)
        }
        lambda.thaw()
        expect(await lambda.end()).toEqual({ code: 0, stderr: '' })
        expect(server.requests).toHaveLength(5 * perInvocation)
        expect(new Set(server.taken).size).toBe(5 * perInvocation)
      },
    )

    /** Freeze it when some requests have been answered and others wait for their answers. */
    async function freezeInFlush(lambda: ReturnType<typeof startFunction>, afterMs: number) {
      server.script = ({ number }) => (number < 8 ? delivered : { ...delivered, afterMs })
      const answer = lambda.invoke(1)
      await vi.waitFor(() => expect(server.requests.length).toBeGreaterThan(9), { interval: 1, timeout: 20_000 })
      await lambda.freeze()
      server.script = () => delivered
      return { answer, waiting: server.requests.length - server.answered }
    }

    it('sends again what the service may not have taken, and nothing else, when it was frozen in a flush', async () => {
      const lambda = startFunction(variables)
      const { answer, waiting } = await freezeInFlush(lambda, anHourMs)
      await server.hangUp()
      lambda.thaw()
      const ledger = await answer
      expect(await lambda.end()).toEqual({ code: 0, stderr: '' })
      expect(ledger).toMatchObject({ accepted: perInvocation, delivered: perInvocation, queued: 0, inFlight: 0 })
      expect(new Set(server.taken).size).toBe(perInvocation)
      expect(server.requests).toHaveLength(perInvocation + waiting)
      // Some requests were on the way and not yet read.
      expect(ledger.ambiguousRetries).toBeGreaterThanOrEqual(waiting)
      expect(ledger.ambiguousRetries).toBeLessThanOrEqual(perInvocation - 8)
    })

    it.runIf(full)(
      'sends nothing again when the answers came while it was frozen, though too late by the clock',
      async () => {
        const lambda = startFunction({ ...variables, SLUICE_REQUEST_TIMEOUT_MS: '1000' })
        const { answer } = await freezeInFlush(lambda, 1200)
        await vi.waitFor(() => expect(server.answered).toBe(server.requests.length), { timeout: 20_000 })
        lambda.thaw()
        const ledger = await answer
        expect(await lambda.end()).toEqual({ code: 0, stderr: '' })
        expect(ledger).toMatchObject({ delivered: perInvocation, ambiguousRetries: 0 })
        expect(server.requests).toHaveLength(perInvocation)
      },
    )
  },
)
