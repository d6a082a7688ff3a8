import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FaultServer } from '../../support/fault-server.js'
import { full, rowsOf } from '../../support/full.js'
import { ampleTime, atOnceMs, type Ended, runProgram, startProgram } from '../../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

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
  const all = ways.flatMap((way) => ends.map((each) => ({ way, ...each })))
  /** Each way and each end. */
  const someOfWorker = ['pino natural', 'winston exit 3']
  const someOfInline = ['track exit 3']
  const isOf = (some: readonly string[], { way, end }: { way: string; end: string }) => some.includes(`${way} ${end}`)

  /** An end is the same without Sluice for all ways to deliver. */
  const seen = new Map<string, Promise<Ended>>()
  function endWithoutSluice(way: string, end: string): Promise<Ended> {
    const key = `${way} ${end}`
    const ended = seen.get(key) ?? runProgram('exits.js', { WAY: way, END: end, SLUICE_DISABLED: 'true' })
    seen.set(key, ended)
    return ended
  }

  it.each(rowsOf(all, (row) => isOf(someOfWorker, row)))(
    '$way, $end: all are delivered, exit code and stderr are as without Sluice',
    async ({ way, end, code }) => {
      const without = await endWithoutSluice(way, end)
      const ended = await runProgram('exits.js', { WAY: way, END: end, ...receiver.variables, ...ampleTime })
      expect(ended).toEqual({ ...without, code })
      expect(way === 'track' ? await receiver.values() : await receiver.logs()).toHaveLength(1000)
    },
  )

  it.each(
    rowsOf(
      all.filter(({ way }) => way !== 'pino'),
      (row) => isOf(someOfInline, row),
    ),
  )('$way, $end, inline: all are delivered, exit code and stderr are as without Sluice', async ({ way, end, code }) => {
    const without = await endWithoutSluice(way, end)
    const variables = { ...receiver.variables, ...ampleTime, SLUICE_MODE: 'inline' }
    const ended = await runProgram('exits.js', { WAY: way, END: end, ...variables })
    expect(ended).toEqual({ ...without, code })
    expect(way === 'track' ? await receiver.values() : await receiver.logs()).toHaveLength(1000)
  })

  it.each(rowsOf(ways, (way) => way === 'track'))(
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

  it.runIf(full).each(
    rowsOf(
      ['worker', 'inline'].flatMap((mode) => ['sluicePino', 'winston', 'track'].map((way) => ({ mode, way }))),
      ({ mode, way }) => mode === 'worker' && way === 'winston',
    ),
  )('$way, $mode: comes in the middle of a close(), which is finished', async ({ mode, way }) => {
    for (const later of [{}, { LATER: '1' }]) {
      const variables = { ...receiver.variables, ...ampleTime, ...later, SLUICE_MODE: mode, WAY: way }
      expect(await runProgram('close-and-exit.js', variables)).toMatchObject({ code: 5, stderr: '' })
    }
    expect(way === 'track' ? await receiver.values() : await receiver.logs()).toHaveLength(2000)
  })

  it.runIf(full).each(['worker', 'inline'])(
    '%s: the records that a close() has given up by then are reported',
    async (mode) => {
      const server = await FaultServer.start(() => ({ type: 'silence' }))
      const timeouts = { SLUICE_URL: server.url, SLUICE_SHUTDOWN_TIMEOUT_MS: '300' }
      const ended = await runProgram('exit-in-close.js', { ...receiver.variables, ...timeouts, SLUICE_MODE: mode })
      expect(ended).toMatchObject({ code: 5, stderr: expect.stringMatching(/^sluice: 1 [^\n]+\n$/) })
      await server.close()
    },
  )

  it.runIf(full).each(['worker', 'inline'])(
    '%s: what the application’s own exit listeners log is delivered',
    async (mode) => {
      const ended = await runProgram('logs-at-exit.js', { ...receiver.variables, ...ampleTime, SLUICE_MODE: mode })
      expect(ended).toMatchObject({ code: 4, stderr: '' })
      expect((await receiver.logs()).map(({ message }) => message)).toEqual(['line 0', 'line 1'])
      expect(await receiver.values()).toHaveLength(1)
    },
  )

  it.runIf(full).each(['worker', 'inline'])(
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
        SLUICE_SHUTDOWN_TIMEOUT_MS: '2000',
      })
      expect(performance.now() - startedAt).toBeLessThan(2000 + 500 + 1000)
      expect(stderr).toMatch(
        /^sluice: 1000 records not delivered before the end of the process; last error: the service did not answer in time; up to \d+ of them may have arrived\n$/,
      )
      await server.close()
    },
  )

  it.runIf(full).each(
    rowsOf(
      ['worker', 'inline'].flatMap((mode) => ['natural', 'exit'].map((end) => ({ mode, end }))),
      ({ mode, end }) => mode === 'worker' && end === 'exit',
    ),
  )('$mode, $end: a destination that never answers costs the other nothing', async ({ mode, end }) => {
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
  })

  it('delivers what a thread of the application has left', async () => {
    expect(await runProgram('thread-and-exit.js', { ...receiver.variables, ...ampleTime })).toMatchObject({
      code: 3,
      stderr: '',
    })
    expect(await receiver.values()).toHaveLength(1000)
  })

  it.runIf(full).each(['sluicePino', 'winston', 'track'])(
    '%s: needs no worker where threads are forbidden',
    async (way) => {
      const ended = await runProgram('exits.js', {
        ...receiver.variables,
        WAY: way,
        END: 'natural',
        NODE_OPTIONS: '--experimental-permission --allow-fs-read=* --allow-fs-write=* --no-warnings',
      })
      expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining('the delivery worker cannot be started') })
      expect(way === 'track' ? await receiver.values() : await receiver.logs()).toHaveLength(1000)
    },
  )

  it.each(rowsOf(['worker', 'inline'], (mode) => mode === 'worker'))(
    'says why process.exit() loses records where threads are forbidden, mode %s',
    async (mode) => {
      const { stdout, stderr, code } = await runProgram('exits.js', {
        ...receiver.variables,
        WAY: 'track',
        END: 'exit 0',
        SLUICE_MODE: mode,
        NODE_OPTIONS: '--experimental-permission --allow-fs-read=* --allow-fs-write=* --no-warnings',
      })
      expect({ stdout, code }).toEqual({ stdout: '', code: 0 })
      expect(await receiver.values()).toHaveLength(0)
      expect(stderr.trim().split('\n').at(-1)).toBe(
        'sluice: 1000 records not delivered before the end of the process; last error: no thread can start to deliver them at the exit: allow threads, or await close() before it',
      )
    },
  )

  it.runIf(full).each(ways)('%s: is not delayed by a wrong key', async (way) => {
    const startedAt = performance.now()
    const variables = { WAY: way, END: 'exit 0', ...receiver.variables, ...ampleTime, SLUICE_API_KEY: 'wrong' }
    const { code } = await runProgram('exits.js', variables)
    expect(performance.now() - startedAt).toBeLessThan(atOnceMs)
    expect(code).toBe(0)
  })
})

describe.each(rowsOf(['worker', 'inline'], (mode) => mode === 'worker'))(
  'unknown levels of winston, mode %s',
  (mode) => {
    it.runIf(full)('arrive like all others', async () => {
      const { code, stdout, stderr } = await runProgram('odd-levels.js', { ...receiver.variables, SLUICE_MODE: mode })
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(JSON.parse(stdout)).toMatchObject({ accepted: 60, delivered: 60, queued: 0 })
      const levels = new Set((await receiver.logs()).map(({ level }) => level))
      expect([...levels].sort()).toEqual(['5%', 'a,b', 'audit', 'c\nd', 'error', 'info'])
    })
  },
)

describe('the delivery worker', () => {
  it.runIf(full)('is one for a hundred loggers, without a warning', async () => {
    const { stdout, stderr } = await runProgram('many-loggers.js', receiver.variables)
    expect({ ...JSON.parse(stdout), stderr }).toEqual({ delivered: 100, workers: 1, stderr: '' })
  })

  it('does not load what an application loads into every thread, which may take seconds', async () => {
    const preloads = { NODE_OPTIONS: `--require ${join(import.meta.dirname, '../../fixtures/slow-preload.cjs')}` }
    const variables = { ...receiver.variables, ...preloads, WAY: 'track', END: 'exit 0' }
    expect(await runProgram('exits.js', variables)).toMatchObject({ code: 0, stderr: '' })
    expect(await receiver.values()).toHaveLength(1000)
  })

  it.runIf(full)('loses none of a million track calls in one turn without counting it', async () => {
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

  it.runIf(full)('is started again when it dies, and what it had not taken goes on', async () => {
    const { stdout, stderr, code } = await runProgram('worker-dies.js', { ...receiver.variables, DEATHS: '1' })
    const { ledger, workers } = JSON.parse(stdout)
    expect({ code, workers }).toEqual({ code: 0, workers: 2 })
    expect(ledger).toMatchObject({ accepted: 201, delivered: 201, queued: 0, inFlight: 0 })
    expect(stderr).toMatch(/^sluice: the delivery worker has failed \([^\n]+\); starting it again\n$/)
    expect(await receiver.values()).toHaveLength(201)
  })

  it('is started again after a rest when it has died twice in a minute', async () => {
    const { stdout, stderr, code } = await runProgram('worker-dies.js', { ...receiver.variables, DEATHS: '2' })
    const { ledger, workers } = JSON.parse(stdout)
    expect({ code, workers }).toEqual({ code: 0, workers: 3 })
    expect(ledger).toMatchObject({ accepted: 301, delivered: 301, queued: 0, inFlight: 0 })
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringMatching(/^sluice: the delivery worker has failed \([^\n]+\); starting it again$/),
      expect.stringMatching(/^sluice: the delivery worker has failed \([^\n]+\); starting it again in 1 s$/),
    ])
  })

  it.runIf(full)('is one for two hundred engines, all of which deliver', async () => {
    const { stdout, stderr } = await runProgram('many-engines.js', receiver.variables)
    const { delivered, workers, threads, megabytes } = JSON.parse(stdout)
    expect({ delivered, workers, threads, stderr }).toEqual({ delivered: 200, workers: 1, threads: 1, stderr: '' })
    // They take 70; one worker each took ten times that.
    expect(megabytes).toBeLessThan(80)
  })
})

const preload = { NODE_OPTIONS: `--require ${join(import.meta.dirname, '../../fixtures/stick.cjs')}` }

describe('a line that hangs the delivery worker', () => {
  const hanging = { ...preload, HANG_AT: 'never ends' }

  it.runIf(full)('is given up, and all others arrive, while the application goes on', async () => {
    const { code, stdout, stderr } = await runProgram('hanging-lines.js', { ...receiver.variables, ...hanging })
    const { accepted, delivered, dropped: lost, workers, longestMs } = JSON.parse(stdout)
    expect({ code, accepted, workers }).toEqual({ code: 0, accepted: 6, workers: 2 })
    expect({ delivered, unreadable: lost.unreadable }).toEqual({ delivered: 5 - lost['worker-failed'], unreadable: 1 })
    expect(lost['worker-failed']).toBeLessThanOrEqual(1)
    expect(longestMs).toBeLessThan(2000)
    expect(stderr).toContain('the line at which it stopped is given up; starting it again')
    expect(stderr).toContain('1 log record dropped (unreadable): the delivery worker stopped at this line')
  })

  it.runIf(full)('costs the end of the process no more than its time, and no other line', async () => {
    const startedAt = performance.now()
    const { code, stderr } = await runProgram('hanging-lines.js', { ...receiver.variables, ...hanging, END: 'exit' })
    expect(performance.now() - startedAt).toBeLessThan(9000)
    expect(code).toBe(3)
    expect(stderr).toContain('it does not answer at the end of the process')
    expect((await receiver.logs()).map(({ message }) => message)).toContainEqual(expect.stringMatching(/^after/))
    expect(await receiver.values()).toHaveLength(2)
  })
})

describe('a delivery worker that is stuck', () => {
  const stuck = { STICK: 'later', ...preload }

  it.runIf(full)('is replaced within seconds, and what it had not taken goes on', async () => {
    const { code, stdout, stderr } = await runProgram('worker-stuck.js', { ...receiver.variables, ...stuck })
    const { ledger, workers } = JSON.parse(stdout)
    expect({ code, workers }).toEqual({ code: 0, workers: 2 })
    expect(ledger).toMatchObject({ accepted: 1001, queued: 0, inFlight: 0 })
    expect(ledger.delivered + ledger.dropped['worker-failed']).toBe(1001)
    expect(ledger.dropped['worker-failed']).toBeLessThanOrEqual(1)
    expect(stderr).toMatch(/^sluice: the delivery worker has failed \(it does not answer any more\)[^\n]+again\n/)
    expect((await receiver.values()).length).toBe(ledger.delivered)
  })

  it.runIf(full)('is not replaced while it is starting, however long that takes', async () => {
    const slow = { STICK: 'at its start', STICK_MS: '7000', ...preload }
    const { code, stdout, stderr } = await runProgram('worker-stuck.js', { ...receiver.variables, ...slow })
    const { ledger, workers } = JSON.parse(stdout)
    expect({ code, workers, stderr }).toEqual({ code: 0, workers: 1, stderr: '' })
    expect(ledger).toMatchObject({ accepted: 1001, delivered: 1001 })
    expect(await receiver.values()).toHaveLength(1001)
  })

  const ended = (setting: Record<string, string>) =>
    runProgram('worker-stuck.js', { ...receiver.variables, ...stuck, END: 'exit', ...setting })

  it.runIf(full)('does not hold the end of the process: another one delivers', async () => {
    const startedAt = performance.now()
    const { code, stderr } = await ended({ SLUICE_SHUTDOWN_TIMEOUT_MS: '3000' })
    expect(performance.now() - startedAt).toBeLessThan(9000)
    expect(code).toBe(3)
    expect(stderr).toMatch(/^sluice: the delivery worker has failed \(it does not answer at the end of the process\)/)
    expect((await receiver.values()).length).toBeGreaterThanOrEqual(1000)
  })

  const brief = [{ SLUICE_SHUTDOWN_TIMEOUT_MS: '100' }, { STICK: 'at its start', SLUICE_SHUTDOWN_TIMEOUT_MS: '1000' }]
  it.runIf(full).each(brief)('does not hold the end of the process beyond its time: %s', async (setting) => {
    const { code, stderr } = await ended(setting)
    expect(code).toBe(3)
    expect(stderr).toMatch(/^sluice: 100[01] records not delivered before the end of the process[^\n]*\n$/)
  })
})

describe('a delivery worker that waits for the disk of its spool for ever', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-stall-'))
    execFileSync('mkfifo', [join(folder, 'disk')])
  })
  // A process that looks at the disk may outlive the application.
  afterEach(() => rmSync(folder, { recursive: true, maxRetries: 10, retryDelay: 50 }))

  /** Runs the application until all but the line that the disk holds is delivered. */
  async function run({ end = 'exit' } = {}) {
    const { process: child, ended } = startProgram('stalled-disk.js', {
      variables: {
        END: end,
        ...receiver.variables,
        SLUICE_SPOOL_DIR: join(folder, 'spool'),
        SLUICE_SHUTDOWN_TIMEOUT_MS: '1000',
        STALL: join(folder, 'disk'),
        NODE_OPTIONS: `--require ${join(import.meta.dirname, '../../fixtures/stall-disk.cjs')}`,
      },
    })
    const [line] = await once(createInterface(child.stdout), 'line')
    return { child, ended, account: JSON.parse(String(line)) }
  }

  it.runIf(full)('keeps no process that has nothing more to do', async () => {
    const { child, ended } = await run({ end: 'natural' })
    child.kill('SIGUSR2')
    expect(await ended).toMatchObject({ signal: 'SIGKILL', stderr: expect.stringContaining('ended by SIGKILL') })
  })

  it.runIf(full)(
    'is replaced by one that leaves the spool alone until the disk answers; the process ends nevertheless, and says how',
    async () => {
      const { child, ended, account } = await run()
      // The line that the disk holds is not on it.
      expect(account).toMatchObject({ accepted: 103, delivered: 102, spooled: 0, dropped: { 'worker-failed': 1 } })
      expect(account.longestMs).toBeLessThan(2000)
      const startedAt = performance.now()
      child.kill('SIGUSR2')
      const { signal, stderr } = await ended
      expect(signal).toBe('SIGKILL')
      expect(performance.now() - startedAt).toBeLessThan(4000)
      expect(stderr).toContain('it waited for the disk of the spool, which is left alone until it answers')
      expect(stderr).toContain('ended by SIGKILL')
    },
  )

  it.runIf(full)('keeps the exit code of the application where the disk answers in time', async () => {
    const { child, ended } = await run()
    child.kill('SIGUSR2')
    closeSync(openSync(join(folder, 'disk'), 'w'))
    const { code, signal, stderr } = await ended
    expect({ code, signal }).toEqual({ code: 3, signal: null })
    expect(stderr).not.toContain('SIGKILL')
  })

  it.runIf(full)('leaves a SIGTERM its effect', async () => {
    const { child, ended } = await run()
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: null, signal: 'SIGTERM' })
  })
})

/** A copy of the package, with its worker file changed. */
function copyWith(change: (entry: string) => void): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-copy-'))
  const root = join(import.meta.dirname, '../../..')
  for (const name of ['dist', 'package.json', 'test/fixtures'])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(folder, join(folder, 'node_modules/sluice'))
  change(join(folder, 'dist/delivery-worker.mjs'))
  return folder
}

describe('the worker', () => {
  it.runIf(full)('from its file alone, which a bundler has copied beside CommonJS, delivers everything', async () => {
    const assets = mkdtempSync(join(tmpdir(), 'sluice-assets-'))
    writeFileSync(join(assets, 'package.json'), '{ "type": "commonjs" }')
    const folder = copyWith((entry) => {
      cpSync(entry, join(assets, basename(entry)))
      rmSync(entry)
      symlinkSync(join(assets, basename(entry)), entry)
    })
    const { stdout, stderr, code } = await runProgram(join(folder, 'test/fixtures/worker-dies.js'), {
      ...receiver.variables,
      ...ampleTime,
      DEATHS: '0',
    })
    for (const made of [folder, assets]) rmSync(made, { recursive: true })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({ workers: 1, ledger: { accepted: 101, delivered: 101 } })
  })
})

describe('where the worker cannot be started', () => {
  const throwing = (entry: string) => writeFileSync(entry, 'throw new Error("no worker here")')

  const reasons: [string, (entry: string) => void, number, string][] = [
    ['because its file is missing', rmSync, 0, '0'],
    ['because it throws at its start', throwing, 1, '0'],
    ['because it throws while the application is busy', throwing, 1, '3000'],
  ]

  it.each(rowsOf(reasons, ([reason]) => reason === 'because its file is missing'))(
    '%s, everything is delivered from the application’s thread, with a report',
    async (_, change, workers, busyMs) => {
      const folder = copyWith(change)
      const { stdout, stderr, code } = await runProgram(join(folder, 'test/fixtures/worker-dies.js'), {
        ...receiver.variables,
        ...ampleTime,
        BUSY_MS: busyMs,
        DEATHS: '0',
      })
      rmSync(folder, { recursive: true })
      expect(JSON.parse(stdout)).toMatchObject({ workers, ledger: { accepted: 101, delivered: 101 } })
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('in the application’s thread') })
      expect(await receiver.values()).toHaveLength(101)
    },
  )

  it.runIf(full)(
    'nor started again, for its file is gone by now, delivery goes on in the application’s thread',
    async () => {
      const folder = copyWith(() => {})
      const { stdout, stderr, code } = await runProgram(join(folder, 'test/fixtures/worker-dies.js'), {
        ...receiver.variables,
        DEATHS: '1',
        REMOVE: join(folder, 'dist/delivery-worker.mjs'),
      })
      rmSync(folder, { recursive: true })
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringMatching(/; starting it again\n[^\n]+its file is missing[^\n]+ application’s thread\n$/),
      })
      expect(JSON.parse(stdout)).toMatchObject({ workers: 1, ledger: { accepted: 201, delivered: 201 } })
    },
  )
})
