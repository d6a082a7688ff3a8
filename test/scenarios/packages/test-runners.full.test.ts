import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { rowsOf } from '../../support/full.js'
import { startTestReceiver } from '../../support/receiver.js'

const root = join(import.meta.dirname, '../../..')
const folder = join(import.meta.dirname, '../../fixtures/runners')
const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder, '--pool']
const jest = ['--experimental-vm-modules', join(root, 'node_modules/jest/bin/jest.js'), '--rootDir', folder]

interface Runner {
  readonly node: readonly string[]
  /** Processes or threads that run the tests of the application. */
  readonly runs: number
  /** Records of each run that arrive without a flush, because the runner lets the process end by itself. */
  readonly unflushed: { readonly logs: number; readonly values: number }
}

const runners: Record<string, Runner> = {
  'node --test': { node: ['--test', join(folder, 'node-test.js')], runs: 1, unflushed: { logs: 20, values: 10 } },
  'vitest, forks': { node: [...vitest, 'forks'], runs: 1, unflushed: { logs: 0, values: 0 } },
  'vitest, threads': { node: [...vitest, 'threads'], runs: 1, unflushed: { logs: 0, values: 0 } },
  'jest, in its own process': {
    node: [...jest, 'jest-test.js', '--runInBand'],
    runs: 1,
    unflushed: { logs: 10, values: 10 },
  },
  'jest, in workers': { node: [...jest, '--maxWorkers', '2'], runs: 2, unflushed: { logs: 0, values: 0 } },
}

/** Runs the tests of an application to the end of the runner. Returns its output and the number of records that arrived. */
async function runTests(runner: string, variables: Record<string, string> = {}) {
  const receiver = await startTestReceiver()
  const child = spawn(process.execPath, runners[runner]!.node, {
    cwd: folder,
    env: { PATH: process.env.PATH, ...receiver.variables, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  const [logs, values] = [await receiver.logs(), await receiver.values()]
  await receiver.close()
  return { code, output: stdout + stderr, logs: logs.length, values: values.length }
}

const complaints = /open handle|hanging|torn down|MaxListeners|close timed out|sluice:/i
/** jest prints this when a process lives on for a second. A delivery before a natural end may take longer. */
const impatience = /did not exit|force exited/

describe.each(rowsOf(Object.entries(runners), ([name]) => name === 'node --test'))(
  'tests under %s, which close nothing',
  (runner, { runs, unflushed }) => {
    it('end by themselves', async () => {
      const { code, output, logs, values } = await runTests(runner)
      expect(output).not.toMatch(complaints)
      expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/pass/i) })
      expect(logs).toBeGreaterThanOrEqual(unflushed.logs)
      expect(values).toBeGreaterThanOrEqual(unflushed.values)
    })

    it('can capture what they log, and then nothing leaves the process', async () => {
      const { code, output, ...arrived } = await runTests(runner, { CAPTURE: '1', FLUSH: '1' })
      expect(output).not.toMatch(complaints)
      expect({ code, output, ...arrived }).toEqual({ code: 0, output: expect.any(String), logs: 0, values: 0 })
    })

    it('end at once after a flush, with everything delivered', async () => {
      const { code, output, ...arrived } = await runTests(runner, { FLUSH: '1' })
      expect(output).not.toMatch(complaints)
      expect(output).not.toMatch(impatience)
      expect({ code, ...arrived }).toEqual({ code: 0, logs: 20 * runs, values: 10 * runs })
    })
  },
)
