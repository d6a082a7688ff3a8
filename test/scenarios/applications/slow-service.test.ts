import { SluiceTransport } from 'sluice/winston'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import winston from 'winston'
import TransportStream from 'winston-transport'
import { delivered, FaultServer } from '../../support/fault-server.js'
import { full, rowsOf } from '../../support/full.js'
import { ampleTime, runProgram } from '../../support/programs.js'

const slowly = { ...delivered, afterMs: 100 } as const
const destination = (server: FaultServer) => ({ url: server.url, apiKey: 'k', bucket: 'b' })
const variables = (server: FaultServer) => ({ SLUICE_URL: server.url, SLUICE_API_KEY: 'k', SLUICE_BUCKET: 'b' })

const ends = [
  { end: 'exit 3', code: 3, signal: null },
  { end: 'SIGTERM', code: null, signal: 'SIGTERM' },
  { end: 'natural', code: 0, signal: null },
  { end: 'exit 0', code: 0, signal: null },
  { end: 'exception', code: 1, signal: null },
  { end: 'rejection', code: 1, signal: null },
]

// The end by process.exit() stands for the others.
describe.each(full ? ends : ends.slice(0, 1))(
  'a service that takes 100 ms for each answer: $end, right after a thousand records',
  ({ end, ...status }) => {
    const ways = ['pino', 'sluicePino', 'winston', 'track']
    it.concurrent.each(rowsOf(ways, (way) => way === 'winston'))(
      '%s: all are delivered, status and stderr are as without Sluice',
      async (way) => {
        const server = await FaultServer.start(() => slowly)
        const without = await runProgram('exits.js', { WAY: way, END: end, SLUICE_DISABLED: 'true' })
        const ended = await runProgram('exits.js', {
          WAY: way,
          END: end,
          // A bare pino target does not see signals.
          ...(way === 'pino' && end === 'SIGTERM' ? { NODE_OPTIONS: '--import sluice/register' } : {}),
          ...variables(server),
          // All records must arrive, and a busy machine may need longer than the default of five seconds.
          ...ampleTime,
        })
        await server.close()
        expect(ended).toEqual({ ...without, ...status })
        expect(new Set(server.taken).size).toBe(1000)
        expect(server.taken).toHaveLength(1000)
      },
    )
  },
)

describe('with a service that takes 100 ms for each answer', () => {
  let server: FaultServer
  beforeEach(async () => {
    server = await FaultServer.start(() => slowly)
  })
  afterEach(() => server.close())

  it.each(rowsOf(['worker', 'inline'] as const, (mode) => mode === 'worker'))(
    'a winston logger that ends after a hundred lines finishes after the last answer, without an error (%s)',
    async (mode) => {
      const logger = winston.createLogger({ transports: [new SluiceTransport({ ...destination(server), mode })] })
      const answeredAtFinish = new Promise<number>((resolve, reject) => {
        logger.once('finish', () => resolve(server.answered)).once('error', reject)
      })
      for (let number = 0; number < 100; number++) logger.info(`line ${number}`)
      logger.end()
      expect(await answeredAtFinish).toBe(100)
      expect(new Set(server.taken).size).toBe(100)
    },
  )

  it.runIf(full).each([100, 0])(
    'pino’s own flush calls back after the last answer to %i lines, in a process that does nothing else',
    async (lines) => {
      // The callback asks how much has arrived.
      server.script = ({ path }) => {
        if (!path.startsWith('/api/')) return slowly
        return { type: 'answer', status: 200, body: JSON.stringify({ total: server.answered }) }
      }
      const { stdout, stderr } = await runProgram('pino-logger-flush.js', { ...variables(server), LINES: `${lines}` })
      expect({ stdout, stderr }).toEqual({ stdout: `${lines} arrived before the callback`, stderr: '' })
    },
  )
})

describe('with a service that never answers', () => {
  it.each(rowsOf(['worker', 'inline'] as const, (mode) => mode === 'worker'))(
    'a winston transport beside ours gets every line as soon as it is logged (%s)',
    async (mode) => {
      const server = await FaultServer.start(() => ({ type: 'silence' }))
      const ours = new SluiceTransport({ ...destination(server), mode, shutdownTimeoutMs: 0, onError: () => {} })
      const lines: unknown[] = []
      const beside = new TransportStream({
        log(info, next) {
          lines.push(info.message)
          next()
        },
      })
      const logger = winston.createLogger({ transports: [ours, beside] })
      logger.info('line 0')
      // Streams begin to flow in the tick after they were connected.
      await new Promise((resolve) => process.nextTick(resolve))
      for (let number = 1; number < 10_000; number++) {
        logger.info(`line ${number}`)
        if (lines.at(-1) !== `line ${number}`) break
      }
      expect(lines).toHaveLength(10_000)
      logger.close()
      await server.close()
    },
  )
})

describe('a service that never answers', () => {
  const several = [
    { end: 'natural', ways: 'all' },
    { end: 'exit', ways: 'pino' },
    { end: 'exit', ways: 'all' },
    { end: 'exit', ways: 'all', atOnce: 'true' },
  ]

  it
    .runIf(full)
    .concurrent.each(
      rowsOf(several, ({ end, ways, atOnce }) => end === 'exit' && ways === 'all' && atOnce === undefined),
    )(
    'is waited for once, whatever waits for it: $ways, $end, at once: $atOnce',
    { retry: 2 },
    async ({ end, ways, atOnce = '' }) => {
      const server = await FaultServer.start(() => ({ type: 'silence' }))
      const timeoutMs = 3000
      const { stdout, code } = await runProgram('several-ends.js', {
        ...variables(server),
        SLUICE_SHUTDOWN_TIMEOUT_MS: `${timeoutMs}`,
        END: end,
        WAYS: ways,
        AT_ONCE: atOnce,
      })
      const tookMs = Date.now() - Number(stdout)
      await server.close()
      expect(code).toBe(0)
      expect(tookMs).toBeGreaterThan(timeoutMs - 100)
      // One after another they would take six seconds, or nine. What is still starting has a quarter more, and its start.
      expect(tookMs).toBeLessThan((atOnce ? 2.4 : 1.8) * timeoutMs)
    },
  )

  it.runIf(full).concurrent.each(['natural', 'exit'])(
    'has no whole time again after a flush that had it, and the remaining lines are reported as one: %s',
    { retry: 2 },
    async (end) => {
      const server = await FaultServer.start(() => ({ type: 'silence' }))
      const timeoutMs = 3000
      const { stdout, stderr } = await runProgram('flush-in-vain.js', {
        ...variables(server),
        SLUICE_SHUTDOWN_TIMEOUT_MS: `${timeoutMs}`,
        END: end,
      })
      const tookMs = Date.now() - Number(stdout)
      await server.close()
      expect(stderr).toMatch(/^sluice: 2 records not delivered before the end of the process; last error: .*\n$/)
      expect(tookMs).toBeLessThan(timeoutMs * 0.6)
    },
  )

  it.runIf(full).each([
    { listener: 'none', code: 0, told: /^sluice: 1 record not delivered/ },
    // Node calls no listener after one that ends the process.
    { listener: 'exits', code: 9, told: /^$/ },
  ])(
    'costs no events that were tracked in the turn of process.exit(), listener of the application: $listener',
    async ({ listener, code, told }) => {
      const server = await FaultServer.start(({ path }) =>
        path.startsWith('/logs/') ? { type: 'silence' } : delivered,
      )
      const ended = await runProgram('late-values.js', {
        ...variables(server),
        SLUICE_SHUTDOWN_TIMEOUT_MS: '2000',
        LISTENER: listener,
      })
      await server.close()
      expect(ended).toMatchObject({ code, stderr: expect.stringMatching(told) })
      expect(server.taken).toHaveLength(1001)
    },
  )

  it.runIf(full)(
    'has its whole time at the end of the process, whenever a thread has ended before',
    { retry: 2 },
    async () => {
      const server = await FaultServer.start(() => ({ type: 'silence' }))
      const timeoutMs = 2000
      const { stdout } = await runProgram('thread-ends-then-exit.js', {
        ...variables(server),
        SLUICE_SHUTDOWN_TIMEOUT_MS: `${timeoutMs}`,
        LATER_MS: `${timeoutMs}`,
      })
      const tookMs = Date.now() - Number(stdout)
      await server.close()
      expect(tookMs).toBeGreaterThan(timeoutMs - 100)
    },
  )
})
