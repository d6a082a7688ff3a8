import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runProgram } from '../../support/programs.js'
import { startTestReceiver } from '../../support/receiver.js'

// pino itself waits ten seconds for its worker.
it('a process ends though pino’s worker waits for the disk of its spool for ever, and says how', async () => {
  const receiver = await startTestReceiver()
  const folder = mkdtempSync(join(tmpdir(), 'sluice-stall-'))
  execFileSync('mkfifo', [join(folder, 'disk')])
  const startedAt = performance.now()
  const { signal, stderr } = await runProgram('pino-stalled-disk.js', {
    ...receiver.variables,
    SLUICE_SPOOL_DIR: join(folder, 'spool'),
    SLUICE_SHUTDOWN_TIMEOUT_MS: '1000',
    STALL: join(folder, 'disk'),
    NODE_OPTIONS: `--require ${join(import.meta.dirname, '../../fixtures/stall-disk.cjs')}`,
  })
  expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: expect.stringContaining('ended by SIGKILL') })
  expect(performance.now() - startedAt).toBeLessThan(20_000)
  rmSync(folder, { recursive: true })
  await receiver.close()
}, 60_000)
