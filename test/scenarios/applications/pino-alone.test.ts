import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { FaultServer } from '../../support/fault-server.js'
import { full, rowsOf } from '../../support/full.js'
import { ampleTime, atOnceMs, startProgram } from '../../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

const hint =
  'sluice: a SIGTERM ends this process with the lines that the worker of pino holds: import sluice before pino, or run node --import sluice/register\n'

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
})
afterEach(() => receiver.close())

interface Setting {
  readonly signal?: NodeJS.Signals
  readonly variables?: Record<string, string>
  /** Called when the first signal is sent. */
  readonly meanwhile?: (kill: (signal: NodeJS.Signals) => void) => unknown
}

/** Starts the application, waits until it has logged, and sends the signal. */
async function endBySignal({ signal = 'SIGTERM', variables = {}, meanwhile }: Setting = {}) {
  const settings = { ...receiver.variables, ...ampleTime, ...variables }
  const program = startProgram('pino-alone.js', { variables: settings })
  onTestFinished(() => void program.process.kill('SIGKILL'))
  const lines: string[] = []
  const reader = createInterface({ input: program.process.stdout }).on('line', (line) => lines.push(line))
  await once(reader, 'line')
  const startedAt = performance.now()
  program.process.kill(signal)
  await meanwhile?.((next) => program.process.kill(next))
  const { code, signal: by, stderr } = await program.ended
  return { code, by, lines, stderr, ms: performance.now() - startedAt }
}

const storedLines = async () => (await receiver.logs()).length

describe('an application that knows pino’s target alone', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s: everything is delivered, and the status is that signal',
    async (signal) => {
      const ended = await endBySignal({ signal })
      expect(ended).toMatchObject({ code: null, by: signal, lines: ['logged'], stderr: '' })
      expect(await storedLines()).toBe(1000)
    },
  )

  it.runIf(full)('delivers the lines of several targets', async () => {
    const ended = await endBySignal({ variables: { TARGETS: '2' } })
    expect(ended).toMatchObject({ by: 'SIGTERM', stderr: '' })
    expect(await storedLines()).toBe(2000)
  })

  it.runIf(full)('delivers the lines of fastify, whose logger it is', async () => {
    const ended = await endBySignal({ variables: { FASTIFY: '1' } })
    expect(ended).toMatchObject({ by: 'SIGTERM', stderr: '' })
    expect(await storedLines()).toBe(1000)
  })

  it.runIf(full)('delivers the lines of a worker thread of the application', async () => {
    const ended = await endBySignal({ variables: { THREAD: '1', LINES: '5000' } })
    expect(ended).toMatchObject({ by: 'SIGTERM', stderr: '' })
    expect(await storedLines()).toBe(5000)
  })

  it('ends by the deadline when the service never answers', async () => {
    const server = await FaultServer.start(() => ({ type: 'silence' }))
    onTestFinished(() => server.close())
    const variables = { SLUICE_URL: server.url, SLUICE_SHUTDOWN_TIMEOUT_MS: '500' }
    const ended = await endBySignal({ variables })
    expect(ended.by).toBe('SIGTERM')
    expect(ended.ms).toBeLessThan(atOnceMs)
    expect(ended.stderr).toContain('1000 records not delivered before the end of the process')
  })

  it.runIf(full)('ends at once at a second signal', async () => {
    const server = await FaultServer.start(() => ({ type: 'silence' }))
    onTestFinished(() => server.close())
    const ended = await endBySignal({
      variables: { SLUICE_URL: server.url },
      meanwhile: (kill) => setTimeout(() => kill('SIGTERM'), 300),
    })
    expect(ended.by).toBe('SIGTERM')
    expect(ended.ms).toBeLessThan(atOnceMs)
  })

  it('dies of a signal that comes before pino’s worker has started, as without Sluice', async () => {
    const ended = await endBySignal({ variables: { AT_ONCE: '1' } })
    expect(ended).toMatchObject({ code: null, by: 'SIGTERM', stderr: '' })
    expect(ended.ms).toBeLessThan(atOnceMs)
  })

  it.runIf(full).each(['on', 'once', 'late'])('leaves the signal to its own listener (%s)', async (listener) => {
    const ended = await endBySignal({ variables: { LISTENER: listener } })
    expect(ended).toMatchObject({ code: 7, by: null, lines: ['logged', 'stopping'], stderr: '' })
    expect(await storedLines()).toBe(1000)
  })

  it.runIf(full).each([
    { by: 'the variable', variables: { SLUICE_HANDLE_SIGNALS: 'false' } },
    { by: 'the option', variables: { HANDLE_SIGNALS: 'false' } },
  ])('gets no listener of ours where $by says handleSignals false', async ({ variables }) => {
    const { code, stdout, stderr } = await startProgram('pino-alone-ends.js', {
      variables: { ...receiver.variables, ...variables },
    }).ended
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '0 listeners, 0 registries\n', stderr: '' })
  })

  it.runIf(full)('gets none where Sluice is off', async () => {
    const { stdout } = await startProgram('pino-alone-ends.js').ended
    expect(stdout).toBe('0 listeners, 0 registries\n')
  })

  const ends: { end: string; variables: Record<string, string>; code: number }[] = [
    { end: 'a natural end', variables: {}, code: 0 },
    { end: 'process.exit()', variables: { EXIT: '3' }, code: 3 },
    { end: 'an uncaught exception', variables: { THROW: '1' }, code: 1 },
  ]

  it.each(rowsOf(ends, ({ end }) => end === 'process.exit()'))(
    '$end: everything is delivered, and nothing keeps it alive',
    async ({ variables, code }) => {
      const ended = await startProgram('pino-alone-ends.js', {
        variables: { ...receiver.variables, ...ampleTime, ...variables },
      }).ended
      expect(ended).toMatchObject({ code, signal: null, stdout: '1 listeners, 1 registries\n' })
      expect(ended.stderr).not.toContain('sluice')
      expect(await storedLines()).toBe(1)
    },
  )

  it.each(rowsOf([{ EXIT: '3' }, {}], (how) => 'EXIT' in how))(
    'says once what was lost, in the thread that the target has: %j',
    async (how) => {
      const server = await FaultServer.start(() => ({ type: 'silence' }))
      const timeouts = { SLUICE_URL: server.url, SLUICE_SHUTDOWN_TIMEOUT_MS: '500' }
      const { stderr } = await startProgram('pino-alone-ends.js', {
        variables: { ...receiver.variables, ...timeouts, ...how },
      }).ended
      expect(stderr).toMatch(/^sluice: 1 [^\n]+ not delivered [^\n]+\n$/)
      await server.close()
    },
  )

  it.each(rowsOf([{}, { TARGETS: '2' }], (more) => !('TARGETS' in more)))(
    'reads on stderr what to do where the permission model forbids it: %j',
    async (more) => {
      const model = process.allowedNodeEnvironmentFlags.has('--permission')
        ? '--permission'
        : '--experimental-permission'
      const { stdout, stderr } = await startProgram('pino-alone-ends.js', {
        variables: { ...receiver.variables, ...more },
        flags: [model, '--allow-worker', '--allow-fs-read=*', '--no-warnings'],
      }).ended
      expect(stdout).toBe('0 listeners, 0 registries\n')
      expect(stderr).toBe(hint)
    },
  )
})
