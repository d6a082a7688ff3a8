import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FaultServer } from '../faults/fault-server.js'
import { runProgram } from '../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../support/receiver.js'

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
})
afterEach(() => receiver.close())

const dropped = (ledger: { dropped: Record<string, number> }) =>
  Object.values(ledger.dropped).reduce((sum, count) => sum + count, 0)

describe('the end of a process, right after a thousand records', () => {
  const ways = ['pino', 'sluicePino', 'winston', 'track']
  const ends = [
    { end: 'natural', code: 0 },
    { end: 'exit 0', code: 0 },
    { end: 'exit 3', code: 3 },
    { end: 'exception', code: 1 },
    { end: 'rejection', code: 1 },
  ]

  it.each(ways.flatMap((way) => ends.map((each) => ({ way, ...each }))))(
    '$way, $end: all are delivered, exit code and stderr are as without Sluice',
    async ({ way, end, code }) => {
      const without = await runProgram('exits.js', { WAY: way, END: end, SLUICE_DISABLED: 'true' })
      const ended = await runProgram('exits.js', { WAY: way, END: end, ...receiver.variables })
      expect(ended).toEqual({ ...without, code })
      expect(way === 'track' ? await receiver.values() : await receiver.logs()).toHaveLength(1000)
    },
  )

  it.each(ways.slice(1).flatMap((way) => ends.map((each) => ({ way, ...each }))))(
    '$way, $end, inline: all are delivered, exit code and stderr are as without Sluice',
    async ({ way, end, code }) => {
      const without = await runProgram('exits.js', { WAY: way, END: end, SLUICE_DISABLED: 'true' })
      const ended = await runProgram('exits.js', { WAY: way, END: end, ...receiver.variables, SLUICE_MODE: 'inline' })
      expect(ended).toEqual({ ...without, code })
      expect(way === 'track' ? await receiver.values() : await receiver.logs()).toHaveLength(1000)
    },
  )

  it.each(ways)(
    '%s: comes by the deadline when the server never answers, and says in one line what was lost',
    { retry: 2 },
    async (way) => {
      const server = await FaultServer.start(() => ({ type: 'silence' }))
      const startedAt = performance.now()
      const { code, stderr } = await runProgram('exits.js', {
        WAY: way,
        END: 'exit 0',
        ...receiver.variables,
        SLUICE_URL: server.url,
        SLUICE_SHUTDOWN_TIMEOUT_MS: '700',
      })
      expect(performance.now() - startedAt).toBeLessThan(700 + 500 + 1000)
      expect(code).toBe(0)
      expect(stderr).toMatch(/^sluice: 1000 [^\n]+\n$/)
      await server.close()
    },
  )

  it.each(['worker', 'inline'].flatMap((mode) => ['sluicePino', 'winston', 'track'].map((way) => ({ mode, way }))))(
    '$way, $mode: comes in the middle of a close(), which is finished',
    async ({ mode, way }) => {
      for (const later of [{}, { LATER: '1' }]) {
        const variables = { ...receiver.variables, ...later, SLUICE_MODE: mode, WAY: way }
        expect(await runProgram('close-and-exit.js', variables)).toMatchObject({ code: 5, stderr: '' })
      }
      expect(way === 'track' ? await receiver.values() : await receiver.logs()).toHaveLength(2000)
    },
  )

  it.each(['worker', 'inline'])('%s: what a close() has given up by then is told', async (mode) => {
    const server = await FaultServer.start(() => ({ type: 'silence' }))
    const timeouts = { SLUICE_URL: server.url, SLUICE_SHUTDOWN_TIMEOUT_MS: '300' }
    const ended = await runProgram('exit-in-close.js', { ...receiver.variables, ...timeouts, SLUICE_MODE: mode })
    expect(ended).toMatchObject({ code: 5, stderr: expect.stringMatching(/^sluice: 1 [^\n]+\n$/) })
    await server.close()
  })

  it.each(['worker', 'inline'])('%s: what the application’s own exit listeners log is delivered', async (mode) => {
    const ended = await runProgram('logs-at-exit.js', { ...receiver.variables, SLUICE_MODE: mode })
    expect(ended).toMatchObject({ code: 4, stderr: '' })
    expect((await receiver.logs()).map(({ message }) => message)).toEqual(['line 0', 'line 1'])
    expect(await receiver.values()).toHaveLength(1)
  })

  it.each(['worker', 'inline'])(
    '%s: a natural end comes by the deadline, too, and not later by that of the exit',
    { retry: 2 },
    async (mode) => {
      const server = await FaultServer.start(() => ({ type: 'silence' }))
      const startedAt = performance.now()
      const { stderr } = await runProgram('exits.js', {
        WAY: 'track',
        ...receiver.variables,
        SLUICE_URL: server.url,
        SLUICE_MODE: mode,
        SLUICE_SHUTDOWN_TIMEOUT_MS: '3000',
      })
      expect(performance.now() - startedAt).toBeLessThan(3000 + 500 + 1000)
      expect(stderr).toBe(
        'sluice: 1000 records not delivered before the end of the process; last error: the service did not answer in time\n',
      )
      await server.close()
    },
  )

  it.each(['worker', 'inline'].flatMap((mode) => ['natural', 'exit'].map((end) => ({ mode, end }))))(
    '$mode, $end: a destination that never answers costs the other nothing',
    async ({ mode, end }) => {
      const server = await FaultServer.start(() => ({ type: 'silence' }))
      await runProgram('two-destinations.js', {
        ...receiver.variables,
        SILENT_URL: server.url,
        END: end,
        SLUICE_MODE: mode,
        SLUICE_SHUTDOWN_TIMEOUT_MS: '2500',
      })
      expect(await receiver.values()).toHaveLength(100)
      await server.close()
    },
  )

  it('delivers what a thread of the application has left', async () => {
    expect(await runProgram('thread-and-exit.js', receiver.variables)).toMatchObject({ code: 3, stderr: '' })
    expect(await receiver.values()).toHaveLength(1000)
  })

  it.each(['sluicePino', 'winston', 'track'])('%s: needs no worker where threads are forbidden', async (way) => {
    const ended = await runProgram('exits.js', {
      ...receiver.variables,
      WAY: way,
      END: 'natural',
      NODE_OPTIONS: '--experimental-permission --allow-fs-read=* --allow-fs-write=* --no-warnings',
    })
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining('the delivery worker cannot be started') })
    expect(way === 'track' ? await receiver.values() : await receiver.logs()).toHaveLength(1000)
  })

  it.each(ways)('%s: is not delayed by a wrong key', async (way) => {
    const startedAt = performance.now()
    const variables = { WAY: way, END: 'exit 0', ...receiver.variables, SLUICE_API_KEY: 'wrong' }
    const { code } = await runProgram('exits.js', variables)
    expect(performance.now() - startedAt).toBeLessThan(4500)
    expect(code).toBe(0)
  })
})

describe.each(['worker', 'inline'])('levels of winston’s that nobody expects, mode %s', (mode) => {
  it('arrive like all others', async () => {
    const { code, stdout, stderr } = await runProgram('odd-levels.js', { ...receiver.variables, SLUICE_MODE: mode })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({ accepted: 60, delivered: 60, queued: 0 })
    const levels = new Set((await receiver.logs()).map(({ level }) => level))
    expect([...levels].sort()).toEqual(['5%', 'a,b', 'audit', 'c\nd', 'error', 'info'])
  })
})

describe('the delivery worker', () => {
  it('is one for a hundred loggers, without a warning', async () => {
    const { stdout, stderr } = await runProgram('many-loggers.js', receiver.variables)
    expect({ ...JSON.parse(stdout), stderr }).toEqual({ delivered: 100, workers: 1, stderr: '' })
  })

  it('loses none of a million track calls in one turn without counting it', async () => {
    const { stdout } = await runProgram('million-tracks.js', {
      ...receiver.variables,
      SLUICE_SHUTDOWN_TIMEOUT_MS: '100',
    })
    const { now, ledger } = JSON.parse(stdout)
    for (const each of [now, ledger]) {
      expect(each.accepted).toBe(1_000_000)
      expect(each.delivered + each.rejected + dropped(each) + each.queued + each.inFlight).toBe(1_000_000)
    }
  })

  it('is started again when it dies, and what it had not taken goes on', async () => {
    const { stdout, stderr, code } = await runProgram('worker-dies.js', { ...receiver.variables, DEATHS: '1' })
    const { ledger, workers } = JSON.parse(stdout)
    expect({ code, workers }).toEqual({ code: 0, workers: 2 })
    expect(ledger).toMatchObject({ accepted: 201, delivered: 201, queued: 0, inFlight: 0 })
    expect(stderr).toMatch(/^sluice: the delivery worker has failed \([^\n]+\); starting it again\n$/)
    expect(await receiver.values()).toHaveLength(201)
  })

  it('is replaced by delivery in the application’s thread when it dies again', async () => {
    const { stdout, stderr, code } = await runProgram('worker-dies.js', { ...receiver.variables, DEATHS: '2' })
    const { ledger, workers } = JSON.parse(stdout)
    expect({ code, workers }).toEqual({ code: 0, workers: 2 })
    expect(ledger).toMatchObject({ accepted: 301, delivered: 301, queued: 0, inFlight: 0 })
    expect(stderr.trim().split('\n')).toHaveLength(2)
    expect(stderr).toContain('delivery goes on in the application’s thread')
  })
})

describe.each(['at its start', 'later'])('a delivery worker that is stuck %s', (when) => {
  const stuck = { STICK: when, NODE_OPTIONS: `--require ${join(import.meta.dirname, '../fixtures/stick.cjs')}` }
  /** What it had taken before it stuck: that may be lost, and is counted. */
  const taken = when === 'later' ? 1 : 0

  it('is started again within seconds, and what it had not taken goes on', async () => {
    const { code, stdout, stderr } = await runProgram('worker-stuck.js', { ...receiver.variables, ...stuck })
    const { ledger, workers } = JSON.parse(stdout)
    expect({ code, workers }).toEqual({ code: 0, workers: 2 })
    expect(ledger).toMatchObject({ accepted: 1001, queued: 0, inFlight: 0 })
    expect(ledger.delivered + ledger.dropped.shutdown).toBe(1001)
    expect(ledger.dropped.shutdown).toBeLessThanOrEqual(taken)
    expect(stderr).toMatch(/^sluice: the delivery worker has failed \(it does not answer any more\)[^\n]+again\n$/)
    expect((await receiver.values()).length).toBeGreaterThanOrEqual(1001 - taken)
  })

  it('does not hold the end of the process, which delivers without it', async () => {
    const startedAt = performance.now()
    const { code, stderr } = await runProgram('worker-stuck.js', { ...receiver.variables, ...stuck, END: 'exit' })
    expect(performance.now() - startedAt).toBeLessThan(8000)
    expect(code).toBe(3)
    expect(stderr).toMatch(/^sluice: the delivery worker has failed \(it does not answer at the end of the process\)/)
    expect((await receiver.values()).length).toBeGreaterThanOrEqual(1001 - taken)
  })
})

describe('where the worker cannot be started', () => {
  /** A copy of the package, with its worker file changed. */
  function copyWith(change: (entry: string) => void): string {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-copy-'))
    const root = join(import.meta.dirname, '../..')
    for (const name of ['dist', 'package.json', 'test/fixtures'])
      cpSync(join(root, name), join(folder, name), { recursive: true })
    mkdirSync(join(folder, 'node_modules'))
    for (const name of ['p-queue', 'thread-stream', 'undici', 'eventemitter3', 'p-timeout', 'real-require']) {
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
    }
    symlinkSync(folder, join(folder, 'node_modules/sluice'))
    change(join(folder, 'dist/worker/delivery-worker.js'))
    return folder
  }

  it.each<[string, (entry: string) => void, number]>([
    ['its file is missing', (entry) => rmSync(entry), 0],
    ['it throws at its start', (entry) => writeFileSync(entry, 'throw new Error("no worker here")'), 2],
  ])('for %s, everything is delivered from the application’s thread, and told', async (_, change, workers) => {
    const folder = copyWith(change)
    const { stdout, stderr, code } = await runProgram(join(folder, 'test/fixtures/worker-dies.js'), {
      ...receiver.variables,
      DEATHS: '0',
    })
    rmSync(folder, { recursive: true })
    expect(JSON.parse(stdout)).toMatchObject({ workers, ledger: { accepted: 101, delivered: 101 } })
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('in the application’s thread') })
    expect(await receiver.values()).toHaveLength(101)
  })

  it('nor started again, for its file is gone by now, delivery goes on in the application’s thread', async () => {
    const folder = copyWith(() => {})
    const { stdout, stderr, code } = await runProgram(join(folder, 'test/fixtures/worker-dies.js'), {
      ...receiver.variables,
      DEATHS: '1',
      REMOVE: join(folder, 'dist/worker/delivery-worker.js'),
    })
    rmSync(folder, { recursive: true })
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^sluice: [^\n]+ application’s thread\n$/),
    })
    expect(JSON.parse(stdout)).toMatchObject({ workers: 1, ledger: { accepted: 201, delivered: 201 } })
  })
})
