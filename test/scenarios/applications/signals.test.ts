import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { FaultServer } from '../../support/fault-server.js'
import { full, rowsOf } from '../../support/full.js'
import { ampleTime, atOnceMs, listenTo, runProgram, startProgram } from '../../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
})
afterEach(() => receiver.close())

interface Setting {
  readonly signal?: NodeJS.Signals
  readonly variables?: Record<string, string>
  readonly node?: readonly string[]
  /** Called when the first signal is sent. */
  readonly meanwhile?: (kill: (signal: NodeJS.Signals) => void, pid: number) => unknown
  readonly command?: readonly string[]
}

/** Starts the application, waits until it has logged, and sends the signal. */
async function endBySignal(
  way: string,
  { signal = 'SIGTERM', variables = {}, node = [], meanwhile, command = [] }: Setting = {},
) {
  const program = [...command, process.execPath, ...node, join(import.meta.dirname, '../../fixtures/signals.js')]
  const child = spawn(program[0]!, program.slice(1), {
    env: { PATH: process.env.PATH, WAY: way, ...receiver.variables, ...ampleTime, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exit = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  const stderr = text(child.stderr)
  const lines: string[] = []
  let stoppingAt = Number.POSITIVE_INFINITY
  const reader = createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    if (line === 'stopping') stoppingAt = performance.now()
  })
  await once(reader, 'line')
  const startedAt = performance.now()
  child.kill(signal)
  await meanwhile?.((next) => child.kill(next), child.pid!)
  const [code, by] = await exit
  return {
    code,
    by,
    stoppingMs: stoppingAt - startedAt,
    ms: performance.now() - startedAt,
    stderr: await stderr,
    lines,
  }
}

const stored = async (way: string) => (way === 'track' ? await receiver.values() : await receiver.logs()).length

describe('a signal to an application without a listener of its own', () => {
  const ways = ['winston', 'track', 'pino', 'sluicePino']

  it.runIf(full).each(['winston', 'pino'])('%s: the final ledger is shown with SLUICE_DEBUG', async (way) => {
    const { stderr } = await endBySignal(way, { variables: { IMPORT: 'first', SLUICE_DEBUG: '1' } })
    const ledger =
      'accepted=1000 delivered=1000 rejected=0 dropped=0 spooled=0 queued=0 inFlight=0 adopted=0 ambiguous=0 suppressed=0'
    expect(stderr.split('\n').filter((line) => line.includes('ledger'))).toEqual([`sluice: ledger ${ledger}`])
  })

  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const
  const all = ways.flatMap((way) => signals.map((signal) => ({ way, signal })))

  const some = ['pino SIGTERM', 'winston SIGINT']
  it.each(rowsOf(all, ({ way, signal }) => some.includes(`${way} ${signal}`)))(
    '$way, $signal: everything is delivered, and the status is that signal',
    async ({ way, signal }) => {
      const ended = await endBySignal(way, { signal, variables: { IMPORT: 'first' } })
      expect(ended).toMatchObject({ code: null, by: signal, stderr: '' })
      expect(await stored(way)).toBe(1000)
    },
  )

  it('delivers for a bare pino target with --import sluice/register', async () => {
    const ended = await endBySignal('pino', { node: ['--import', 'sluice/register'] })
    expect(ended).toMatchObject({ by: 'SIGTERM', stderr: '' })
    expect(await stored('pino')).toBe(1000)
  })

  it.runIf(full)('delivers even when it comes while pino’s worker is still starting', async () => {
    const ended = await endBySignal('pino', { variables: { IMPORT: 'first', STARTING: '1' } })
    expect(ended).toMatchObject({ by: 'SIGTERM', stderr: '' })
    expect(await stored('pino')).toBe(1000)
  })

  it.runIf(full)('keeps to the deadline even when it comes while pino’s worker is still starting', async () => {
    const { variables } = receiver
    await receiver.close()
    const ended = await endBySignal('pino', {
      variables: { ...variables, IMPORT: 'first', STARTING: '1', SLUICE_SHUTDOWN_TIMEOUT_MS: '300' },
    })
    expect(ended.by).toBe('SIGTERM')
    expect(ended.ms).toBeLessThan(atOnceMs)
  })

  const slowly = { NODE_OPTIONS: `--require ${join(import.meta.dirname, '../../fixtures/slow-preload.cjs')}` }

  it.runIf(full)(
    'delivers what pino’s worker takes only when most of the time is over, because it starts slowly',
    async () => {
      const ended = await endBySignal('pino', { variables: { IMPORT: 'first', STARTING: '1', ...slowly } })
      expect(ended).toMatchObject({ by: 'SIGTERM', stderr: '' })
      expect(await stored('pino')).toBe(1000)
    },
  )

  it('says that lines are lost where pino’s worker does not start in time', async () => {
    const short = { SLUICE_SHUTDOWN_TIMEOUT_MS: '1000' }
    const ended = await endBySignal('pino', { variables: { IMPORT: 'first', STARTING: '1', ...slowly, ...short } })
    expect(ended).toMatchObject({
      by: 'SIGTERM',
      stderr: 'sluice: a worker of pino has not taken its last lines: they are lost\n',
    })
    expect(await stored('pino')).toBe(0)
  })

  it.runIf(full)('delivers beside the package signal-exit', async () => {
    const ended = await endBySignal('track', { variables: { SIGNAL_EXIT: '1' } })
    expect(ended).toMatchObject({ by: 'SIGTERM' })
    expect(await stored('track')).toBe(1000)
  })

  it.runIf(full)('delivers with two copies of Sluice', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-copy-'))
    const root = join(import.meta.dirname, '../../..')
    for (const name of ['dist', 'package.json']) cpSync(join(root, name), join(folder, name), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const ended = await endBySignal('track', { variables: { COPIES: join(folder, 'dist/index.js') } })
    rmSync(folder, { recursive: true })
    expect(ended).toMatchObject({ by: 'SIGTERM', stderr: '' })
    expect(await stored('track')).toBe(1000)
  })

  it.runIf(full)('is not delayed by a busy worker thread of the application', async () => {
    const ended = await endBySignal('track', { variables: { BUSY: '1' } })
    expect(ended).toMatchObject({ by: 'SIGTERM' })
    expect(ended.ms).toBeLessThan(atOnceMs)
    expect(await stored('track')).toBe(1000)
  })

  it.runIf(full)('ends at once when the key is wrong', async () => {
    const ended = await endBySignal('track', { variables: { SLUICE_API_KEY: 'wrong' } })
    expect(ended.by).toBe('SIGTERM')
    expect(ended.ms).toBeLessThan(atOnceMs)
    expect(ended.stderr).toContain('1000 records not delivered before the end of the process')
  })

  it('ends by the deadline when the server never answers, and a second signal acts at once', { retry: 2 }, async () => {
    const server = await FaultServer.start(() => ({ type: 'silence' }))
    const variables = { SLUICE_URL: server.url, SLUICE_SHUTDOWN_TIMEOUT_MS: '1500' }
    const patient = await endBySignal('track', { variables })
    expect(patient).toMatchObject({ by: 'SIGTERM' })
    expect(patient.ms).toBeGreaterThan(1400)
    expect(patient.ms).toBeLessThan(1500 + 500)
    expect(patient.stderr).toMatch(
      /^sluice: 1000 records not delivered before the end of the process; last error: the service did not answer in time; up to \d+ of them may have arrived\n$/,
    )

    const hasty = await endBySignal('track', {
      variables: { ...variables, ...ampleTime },
      meanwhile: (kill) => setTimeout(() => kill('SIGTERM'), 200),
    })
    expect(hasty).toMatchObject({ by: 'SIGTERM' })
    expect(hasty.ms).toBeLessThan(atOnceMs)
    await server.close()
  })

  it.runIf(full)('is left to the default when handleSignals is off', async () => {
    const server = await FaultServer.start(() => ({ type: 'silence' }))
    const ended = await endBySignal('track', { variables: { SLUICE_URL: server.url, SLUICE_HANDLE_SIGNALS: 'false' } })
    expect(ended).toMatchObject({ by: 'SIGTERM' })
    expect(ended.ms).toBeLessThan(atOnceMs)
    await server.close()
  })
})

describe('a signal while the event loop is blocked', () => {
  const phases = ['imported', 'flushed', 'settled']

  it.each(rowsOf(['SIGTERM', 'SIGINT'] as const, (signal) => signal === 'SIGTERM'))(
    '%s ends a process in which Sluice is off',
    async (signal) => {
      expect(await endWhileBusy('imported', { signal, variables: {} })).toMatchObject({
        code: null,
        signal,
        stderr: '',
      })
    },
  )

  it.runIf(full).each(phases)('ends a process that has nothing to deliver: %s', async (phase) => {
    const signal = 'SIGTERM'
    const ended = await endWhileBusy(phase, { signal, variables: receiver.variables })
    expect(ended).toMatchObject({ code: null, signal, stderr: '' })
  })

  async function endWhileBusy(
    phase: string,
    { signal, variables }: { readonly signal: NodeJS.Signals; readonly variables: Record<string, string> },
  ) {
    const running = startProgram('busy.js', { variables: { ...variables, PHASE: phase } })
    await listenTo(running.process.stdout)('busy')
    running.process.kill(signal)
    return await running.ended
  }
})

describe('a listener that raises its signal again', () => {
  it.runIf(full)('has the process die of it, as without Sluice', async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, '../../fixtures/reraise.js')], { stdio: 'pipe' })
    const exit = once(child, 'close')
    await once(createInterface({ input: child.stdout }), 'line')
    child.kill('SIGTERM')
    expect(await exit).toEqual([null, 'SIGTERM'])
  })
})

describe('the option handleSignals of a pino target', () => {
  it.runIf(full)('takes our listeners off the whole process', async () => {
    const { stdout } = await runProgram('pino-handle-signals.js', receiver.variables)
    expect(JSON.parse(stdout)).toEqual({ before: 1, after: 0 })
  })
})

describe('a signal to an application with a listener of its own', () => {
  const listeners = ['on', 'once', 'prependOnce'].flatMap((listener) => [
    { listener, when: 'before' },
    { listener, when: 'after' },
  ])

  it.each(rowsOf(listeners, ({ listener, when }) => listener === 'on' && when === 'before'))(
    '$listener, added $when Sluice: is the application’s alone',
    async ({ listener, when }) => {
      const ended = await endBySignal('track', {
        // It lives on when all is delivered: if Sluice waited as well, it would end the process then.
        variables: {
          LISTENER: listener,
          FLUSHES: '1',
          ...(when === 'before' ? { LISTEN_FIRST: '1' } : { IMPORT: 'first' }),
        },
      })
      expect(ended).toMatchObject({ code: 7, by: null, lines: ['logged', 'stopping'], stderr: '' })
      expect(await stored('track')).toBe(1000)
    },
  )

  it.runIf(full)('is not delayed by a server that never answers', async () => {
    const server = await FaultServer.start(() => ({ type: 'silence' }))
    const ended = await endBySignal('track', { variables: { SLUICE_URL: server.url, LISTENER: 'on' } })
    expect(ended.code).toBe(7)
    expect(ended.stoppingMs).toBeLessThan(1500)
    await server.close()
  })
})

const unshare = ['unshare', '--pid', '--fork', '--kill-child']
const canUnshare = spawnSync(unshare[0]!, [...unshare.slice(1), 'true']).status === 0
if (!canUnshare && process.env.CI === undefined) console.warn('skipped: PID 1, for unshare is missing or not allowed')

describe.skipIf(!canUnshare && process.env.CI === undefined)('an application that is PID 1', () => {
  it('delivers, and lives on as it would without Sluice, for the kernel spares it the signal', async () => {
    const ended = await endBySignal('track', {
      command: unshare,
      signal: 'SIGCONT',
      meanwhile: async (_kill, pid) => {
        const inner = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim())
        process.kill(inner, 'SIGTERM')
        await vi.waitFor(async () => expect(await stored('track')).toBe(1000), { timeout: 20_000 })
        process.kill(inner, 'SIGTERM')
        process.kill(inner, 'SIGKILL')
      },
    })
    expect(ended.stderr).not.toContain('sluice:')
    expect(await stored('track')).toBe(1000)
  })
})
