import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { FaultServer } from '../../support/fault-server.js'
import { full, rowsOf } from '../../support/full.js'
import { ampleTime, atOnceMs, runProgram, startProgram } from '../../support/programs.js'
import { linesIn, spoolFolder } from '../../support/spool.js'

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = await FaultServer.start()
  const { port } = server
  await server.close()
  return port
}
const nowhere = { SLUICE_URL: 'http://127.0.0.1:1', SLUICE_API_KEY: 'k', SLUICE_BUCKET: 'b' }

describe('where nothing listens', () => {
  const calls = ['flush', 'close'].flatMap((call) => ['worker', 'inline'].map((mode) => [call, mode] as const))
  it.each(rowsOf(calls, ([call, mode]) => call === 'flush' && mode === 'worker'))(
    '%s with a time of its own has it (%s), and none without one',
    async (CALL, mode) => {
      const variables = { ...nowhere, ...ampleTime, SLUICE_MODE: mode, CALL }
      const [given, own] = await Promise.all([
        runProgram('drains-in-nowhere.js', { ...variables, TIMEOUT_MS: '1500' }),
        runProgram('drains-in-nowhere.js', variables),
      ])
      const [patient, brief] = [given, own].map(({ stdout }) => JSON.parse(stdout) as { ms: number })
      expect(patient).toMatchObject({ accepted: 1, delivered: 0 })
      expect(patient!.ms).toBeGreaterThanOrEqual(1490)
      expect(brief).toMatchObject({ accepted: 1, delivered: 0 })
      expect(brief!.ms).toBeLessThan(atOnceMs)
    },
  )

  it.runIf(full).each(['worker', 'inline'])(
    'a service that another engine has reached has its time (%s)',
    async (SLUICE_MODE) => {
      const variables = { SLUICE_MODE, SLUICE_SHUTDOWN_TIMEOUT_MS: '1500' }
      const { stdout, stderr } = await runProgram('second-engine-in-outage.js', variables)
      const { delivered, waited } = JSON.parse(stdout) as { delivered: number; waited: number }
      expect(delivered).toBe(1)
      expect(waited).toBeGreaterThanOrEqual(1400)
      expect(stderr).not.toContain('nothing listens')
    },
  )

  it.runIf(full).each(['worker', 'inline'])(
    'the records stay on disk, and the next process delivers them (%s)',
    async (mode) => {
      const port = await freePort()
      const dir = spoolFolder()
      const variables = {
        ...nowhere,
        ...ampleTime,
        SLUICE_URL: `http://127.0.0.1:${port}`,
        SLUICE_SPOOL_DIR: dir,
        SLUICE_MODE: mode,
      }
      const first = await runProgram('natural-end.js', variables)
      expect(first.code).toBe(0)
      expect(first.stderr).toMatch(/^sluice: nothing listens at .*; records wait on disk: /)
      expect(linesIn(dir)).toHaveLength(400)
      const server = await FaultServer.start(undefined, { port })
      const next = startProgram('spools.js', { variables: { ...variables, COUNT: '1' } })
      onTestFinished(() => void next.process.kill('SIGKILL'))
      await vi.waitFor(() => expect(linesIn(dir)).toEqual([]), { timeout: 20_000, interval: 50 })
      next.process.kill('SIGTERM')
      expect(await next.ended).toMatchObject({ signal: 'SIGTERM', stderr: '' })
      await server.close()
      expect(server.taken).toHaveLength(401)
    },
  )
})
