import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, type ExpectStatic, expect, it } from 'vitest'
import { startBusyProcesses } from '../../support/busy-processes.js'
import { delivered, FaultServer } from '../../support/fault-server.js'
import { everything, full, rowsOf } from '../../support/full.js'
import { ampleTime, startProgram } from '../../support/programs.js'

let endBusyProcesses = () => {}
beforeAll(() => {
  // In `npm test` other tests keep the machine busy.
  endBusyProcesses = startBusyProcesses(full ? 2 : 0)
})
afterAll(() => endBusyProcesses())

interface Setting {
  readonly way: string
  readonly server: FaultServer
  readonly signal?: NodeJS.Signals
  readonly variables?: Record<string, string>
}

/** Ends an application by a signal while it logs on. */
async function endWhileLogging({ way, server, signal = 'SIGTERM', variables = {} }: Setting) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-logs-on-'))
  const count = join(folder, 'count')
  const destination = { SLUICE_URL: server.url, SLUICE_API_KEY: 'key', SLUICE_BUCKET: 'bucket' }
  const program = startProgram('logs-on.js', {
    variables: { WAY: way, COUNT: count, ...destination, ...ampleTime, ...variables },
  })
  try {
    await once(program.process.stdout, 'data')
    const startedAt = performance.now()
    program.process.kill(signal)
    const { signal: by, stderr } = await program.ended
    const ms = performance.now() - startedAt
    const accepted = Number(readFileSync(count, 'utf8'))
    const arrived = new Set(server.taken.map((body) => /"line (\d+)|"eventId":(\d+)/.exec(body)?.slice(1).join('')))
    return { by, ms, stderr, missing: accepted - arrived.size }
  } finally {
    program.process.kill('SIGKILL')
    await server.close()
    rmSync(folder, { recursive: true })
  }
}

/** Takes each record at once, and answers so much later. It names the keys of records, so that values are pipelined, too. */
function startService(afterMs: number): Promise<FaultServer> {
  return FaultServer.start(({ headers }) => ({
    ...delivered,
    headers: { 'idempotency-key': headers.get('idempotency-key') ?? '' },
    afterMs,
  }))
}

const inline = { SLUICE_MODE: 'inline' }
const loggers: readonly Pick<Setting, 'way' | 'variables' | 'signal'>[] = [
  { way: 'pino' },
  { way: 'sluicePino' },
  { way: 'winston', signal: 'SIGINT' },
  { way: 'track' },
]

describe.concurrent('a signal while the application logs on, on a busy machine', () => {
  const ends = Array.from({ length: everything ? 17 : 1 }, (_, round) =>
    [0, 150, 400].flatMap((afterMs) => loggers.map((logger) => ({ ...logger, afterMs, round }))),
  ).flat()

  it.for(rowsOf(ends, ({ afterMs, way }) => afterMs === 150 && (way === 'pino' || way === 'winston')))(
    '$way, answers after $afterMs ms: all arrives, or is told ($round)',
    async (end, { expect }) => {
      const ended = await endWhileLogging({ ...end, server: await startService(end.afterMs) })
      expect(ended).toMatchObject({ by: end.signal ?? 'SIGTERM', ...honest(ended) })
      expectTimeUsed(ended, expect)
    },
  )

  const others = [
    { way: 'pino', variables: { IMPORT: 'first' } },
    { way: 'sluicePino', variables: inline },
    { way: 'track', variables: inline },
  ]

  it.for(rowsOf(others, ({ way }) => way === 'track'))(
    '$way with $variables: all arrives, or is told',
    async (end, { expect }) => {
      const ended = await endWhileLogging({ ...end, server: await startService(20) })
      expect(ended).toMatchObject({ by: 'SIGTERM', ...honest(ended) })
      expectTimeUsed(ended, expect)
    },
  )

  it.for(rowsOf([...loggers, { way: 'winston', variables: inline }], ({ way }) => way === 'track'))(
    '$way with $variables, no time for all: the missing records are told',
    async ({ way, variables }, { expect }) => {
      const short = { ...variables, SLUICE_SHUTDOWN_TIMEOUT_MS: '1000' }
      const ended = await endWhileLogging({ way, server: await startService(400), variables: short })
      expect(ended).toMatchObject({ by: 'SIGTERM', ...honest(ended) })
      expect(ended.missing).toBeGreaterThan(0)
    },
  )
})

type End = Awaited<ReturnType<typeof endWhileLogging>>

/** On a machine that is busy enough, not all arrives in time: then the whole time was used. */
function expectTimeUsed({ missing, ms }: End, expect: ExpectStatic): void {
  if (missing > 0) expect(ms).toBeGreaterThan(0.9 * Number(ampleTime.SLUICE_SHUTDOWN_TIMEOUT_MS))
}

const losses =
  /^sluice: (\d+) records? not delivered before the end of the process(?:; last error: the (?:service did not answer|thread that delivers at the exit did not start) in time)?(?:; up to (\d+) of them may have arrived)?\n$/

/** An end that tells as many records as are missing. A request without an answer may have arrived. */
function honest({ missing, stderr }: { readonly missing: number; readonly stderr: string }) {
  const [, lost = '0', unanswered = '0'] = losses.exec(stderr) ?? []
  const told = Number(lost)
  return {
    missing: Math.min(Math.max(missing, told - Number(unanswered)), told),
    stderr: told === 0 ? '' : expect.stringMatching(losses),
  }
}
