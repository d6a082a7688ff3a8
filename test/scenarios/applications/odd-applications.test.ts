import { createSluice, type Sluice } from 'sluice'
import { SluiceTransport } from 'sluice/winston'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import winston from 'winston'
import { table } from '../../../src/options/table.js'
import { FaultServer } from '../../support/fault-server.js'
import { full, rowsOf } from '../../support/full.js'
import { ampleTime, atOnceMs, runProgram, startProgram } from '../../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
})
afterEach(() => receiver.close())

describe('loggers of pino as applications configure them', () => {
  it.runIf(full)('are all understood, and no line can end the worker', async () => {
    const { code, stderr } = await runProgram('pino-odd-loggers.js', receiver.variables)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const lines = (await receiver.logs()).map(({ level, message }) => `${level}: ${message}`)
    expect(lines.sort()).toEqual([
      'audit: custom level',
      'error: error by name',
      'info: after a hostile line',
      'info: level by name {"a":1}',
      'info: {"a":1} {"level":{"toString":1},"time":{"valueOf":1}}',
    ])
  })

  it.runIf(full)('obey SLUICE_LEVEL also where a formatter writes the level as text', async () => {
    await runProgram('pino-odd-loggers.js', { ...receiver.variables, SLUICE_LEVEL: 'error' })
    expect((await receiver.logs()).map(({ message }) => message)).toEqual(['error by name'])
  })
})

it.runIf(full)('settings on the prototype of all objects are none of the application’s', async () => {
  const another = await FaultServer.start()
  onTestFinished(() => another.close())
  for (const SLUICE_MODE of ['worker', 'inline']) {
    const { code, stdout, stderr } = await startProgram('prototype-polluted.js', {
      arguments: [another.url],
      variables: { ...receiver.variables, SLUICE_MODE },
    }).ended
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: expect.stringContaining('(404)'), stderr: '' })
  }
  expect(another.requests).toEqual([])
  const logs = (await receiver.logs()).map(({ message }) => message).sort()
  expect(logs).toEqual(['by pino', 'by pino', 'by pino’s target', 'by pino’s target', 'by winston', 'by winston'])
  expect(await receiver.values()).toHaveLength(6)
})

describe('an application that imports sluice after pino’s worker has started', () => {
  it.runIf(full).each(['now', 'long since'])(
    'flushes the lines of that worker, which has been ready %s',
    async (when) => {
      const { code, stdout, stderr } = await runProgram('imports-late.js', { ...receiver.variables, READY: when })
      expect({ code, stderr, ...JSON.parse(stdout) }).toMatchObject({
        code: 0,
        stderr: '',
        accepted: 1000,
        delivered: 1000,
      })
      expect(await receiver.logs()).toHaveLength(1000)
    },
  )

  it.runIf(full)(
    'flushes the lines of a worker that is still starting, or says that it has not waited for them',
    async () => {
      const { code, stdout, stderr } = await runProgram('imports-late.js', receiver.variables)
      expect(code).toBe(0)
      const { accepted } = JSON.parse(stdout)
      if (accepted === 0) expect(stderr).toContain('has not waited for lines of a pino worker')
      else expect({ accepted, stderr }).toEqual({ accepted: 1000, stderr: '' })
      expect(await receiver.logs()).toHaveLength(1000)
    },
  )

  it.runIf(full)('waits a second at most where that worker runs something else', async () => {
    const { stdout } = await runProgram('imports-late.js', { ...receiver.variables, TARGET: 'pino/file', READY: 'now' })
    const { accepted, ms } = JSON.parse(stdout.slice(stdout.lastIndexOf('{"accepted"')))
    expect(accepted).toBe(0)
    expect(ms).toBeLessThan(1500)
  })

  it.runIf(full)('does not wait where listeners of the application have the names of pino’s', async () => {
    const { code, stdout } = await runProgram('listeners-like-pino.js', receiver.variables)
    expect(code).toBe(0)
    expect(JSON.parse(stdout).ms).toBeLessThan(700)
  })
})

describe('loggers of pino that are garbage', () => {
  const collected = async (loggers: number, workersLeft: number) => {
    const flags = ['--expose-gc']
    const { variables } = receiver
    const own = [String(loggers), String(workersLeft)]
    const ended = await startProgram('pino-garbage-loggers.js', { arguments: own, flags, variables }).ended
    return { ...ended, stdout: JSON.parse(ended.stdout) }
  }

  it.runIf(full)('lose nothing of what they have logged', async () => {
    expect(await collected(3, 3)).toMatchObject({ code: 0, stderr: '', stdout: { delivered: 3, workers: 3 } })
    expect(await receiver.logs()).toHaveLength(3)
  })

  it.runIf(full)('keep eight workers at most, and none that still has something to deliver is ended', async () => {
    expect(await collected(12, 8)).toMatchObject({ code: 0, stderr: '', stdout: { delivered: 12, workers: 8 } })
    expect(await receiver.logs()).toHaveLength(12)
  })
})

describe('SLUICE_LEVEL for winston', () => {
  it.each([
    ['warn', ['warn', 'error']],
    ['warning', ['warn', 'error']],
    ['fatal', []],
    ['trace', ['debug', 'info', 'warn', 'error']],
    ['nonsense', ['debug', 'info', 'warn', 'error']],
  ])('%s ships %j', async (level, shipped) => {
    const transport = new SluiceTransport({ ...receiver.options, level, onError: () => {} })
    const logger = winston.createLogger({ level: 'debug', transports: [transport] })
    for (const name of ['debug', 'info', 'warn', 'error']) logger.log(name, 'line')
    await new Promise((resolve) => logger.once('finish', resolve).end())
    expect((await receiver.logs()).map((record) => record.level).sort()).toEqual([...shipped].sort())
  })
})

describe('a listener that logs', () => {
  it.runIf(full)('does not keep itself busy when what it logs is lost, too', async () => {
    const { code, stdout } = await runProgram('listener-that-logs.js')
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'heard' })
  })

  it('may be an asynchronous function that rejects', async () => {
    const server = await FaultServer.start(() => ({ type: 'answer', status: 400, body: '{"errors":[]}' }))
    const unhandled: unknown[] = []
    const remember = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', remember)
    const onError = (async () => {
      throw new Error('asynchronous')
    }) as () => void
    const sluice = createSluice({ url: server.url, apiKey: 'k', bucket: 'b', onError })
    sluice.track(1)
    await sluice.close()
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', remember)
    await server.close()
    expect(unhandled).toEqual([])
  })
})

describe('a working directory that is gone', () => {
  const gone = [
    ['winston', 'worker'],
    ['track', 'inline'],
  ]

  it.runIf(full).each(gone)('harms nothing, though the spool is to be below it: %s, %s', async (way, mode) => {
    const { code, stderr } = await runProgram('working-directory-gone.js', {
      ...receiver.variables,
      WAY: way,
      SLUICE_MODE: mode,
      SLUICE_SPOOL_DIR: 'spool',
    })
    // Node.js starts no worker there.
    expect(stderr).toMatch(/sluice: the spool in spool cannot be written .* memory alone until it can\n$/)
    expect(stderr).not.toMatch(/^(?!sluice: )./m)
    expect(code).toBe(0)
    expect([...(await receiver.logs()), ...(await receiver.values())]).toHaveLength(100)
  })
})

describe('the end of a process', () => {
  it.runIf(full)('comes, though the application logs in its own beforeExit listener', async () => {
    const { code, signal } = await runProgram('logs-before-exit.js', receiver.variables)
    expect({ code, signal }).toEqual({ code: 0, signal: null })
    expect((await receiver.logs()).length).toBeGreaterThanOrEqual(1)
  })

  const all = ['worker', 'inline'].flatMap((mode) =>
    ['idle-again.js', 'logs-in-before-exit.js'].map((program) => ({ mode, program })),
  )

  it.each(rowsOf(all, ({ mode, program }) => mode === 'worker' && program === 'logs-in-before-exit.js'))(
    '$program, $mode: comes after many beforeExit events with every record sent once',
    async ({ mode, program }) => {
      const variables = { ...receiver.variables, SLUICE_MODE: mode, SLUICE_DEBUG: '1' }
      const { code, stdout, stderr } = await runProgram(program, variables)
      const expected = Number(stdout || 6) + 1
      expect(code).toBe(0)
      expect(stderr).toContain(`ledger accepted=${expected} delivered=${expected} `)
      expect(stderr).toContain('ambiguous=0')
      expect(await receiver.values()).toHaveLength(expected)
    },
  )

  // A line of pino for a worker is work, whatever that worker runs.
  const calls = [
    ['pino', '2'],
    ['sluicePino', '1'],
    ['winston', '1'],
    ['track', '1'],
  ]

  it.runIf(full).each(calls)(
    '%s: calls the application’s listeners of beforeExit as often as without Sluice',
    async (WAY, stdout) => {
      const ended = await runProgram('before-exits.js', { ...receiver.variables, WAY })
      expect(ended).toMatchObject({ code: 0, stdout, stderr: '' })
      expect([...(await receiver.logs()), ...(await receiver.values())]).toHaveLength(2)
    },
  )

  it.each(rowsOf(['natural', 'exit'], (end) => end === 'exit'))(
    '%s: tells the listeners of the application what became of the last record',
    async (END) => {
      const server = await FaultServer.start(() => ({ type: 'answer', status: 400, body: '{"errors":[]}' }))
      const variables = { ...receiver.variables, SLUICE_URL: server.url, END }
      const { code, stdout } = await runProgram('hears-at-end.js', variables)
      expect({ code, heard: stdout.split('\n').sort() }).toEqual({
        code: 0,
        heard: ['', 'SLUICE_REJECTED', 'sluice:rejected'],
      })
      await server.close()
    },
  )

  it.runIf(full)('does not wait for a service that asks for an hour', async () => {
    const server = await FaultServer.start(() => ({ type: 'answer', status: 503, headers: { 'retry-after': '3600' } }))
    const startedAt = performance.now()
    const { stderr } = await runProgram('track-and-end.js', {
      SLUICE_URL: server.url,
      SLUICE_API_KEY: 'k',
      SLUICE_BUCKET: 'b',
    })
    expect(performance.now() - startedAt).toBeLessThan(4500)
    expect(stderr).toContain('1 record not delivered')
    await server.close()
  })

  it.runIf(full)('shows every option with its source with SLUICE_DEBUG', async () => {
    const variables = { ...receiver.variables, SLUICE_DEBUG: 'true', SLUICE_MAX_CONNECTIONS: '7', DD_ENV: 'staging' }
    const { stderr } = await runProgram('natural-end.js', variables)
    const lines = stderr.split('\n')
    for (const name of Object.keys(table).filter((each) => each !== 'bucket')) {
      expect(lines.filter((line) => line.startsWith(`sluice: ${name}=`)).length, name).toBeGreaterThan(0)
    }
    expect(lines).toContain('sluice: maxConnections=7 (SLUICE_MAX_CONNECTIONS)')
    expect(lines).toContain('sluice: env="staging" (DD_ENV)')
    expect(lines).toContain('sluice: level=none (default)')
    expect(lines).toContain(`sluice: logBucket="${receiver.project}" (SLUICE_BUCKET)`)
    expect(lines).toContain('sluice: apiKey="[redacted]" (SLUICE_API_KEY)')
  })

  it.runIf(full)('shows the ledger with SLUICE_DEBUG, of winston, track and pino’s worker', async () => {
    const inline = await runProgram('natural-end.js', { ...receiver.variables, SLUICE_DEBUG: 'true' })
    expect(inline.stderr).toContain('sluice: ledger accepted=400 delivered=400 rejected=0 dropped=0')
    const inWorker = await runProgram('pino-natural-end.js', { ...receiver.variables, SLUICE_DEBUG: 'true' })
    expect(inWorker.stderr).toContain('sluice: ledger accepted=202 delivered=202 rejected=0 dropped=0')
    expect(inline.stderr + inWorker.stderr).not.toContain(receiver.apiKey)
    expect(inline.stderr).toContain('sluice: apiKey="[redacted]" (SLUICE_API_KEY)')
  })
})

describe('threads of the application that track and end without closing anything', () => {
  it.runIf(full)('lose nothing, whether they end by themselves, by process.exit() or by an exception', async () => {
    expect(await runProgram('threads-that-end.js', receiver.variables)).toMatchObject({ code: 0, stderr: '' })
    expect(await receiver.values()).toHaveLength(300)
  })

  it.runIf(full)('leave the engines of the other threads open', async () => {
    const server = await FaultServer.start(() => ({ type: 'answer', status: 200 }))
    const variables = { ...receiver.variables, SLUICE_URL: server.url }
    const { stdout, stderr } = await runProgram('thread-ends-main-goes-on.js', variables)
    expect(stderr).toBe('')
    const ledger = JSON.parse(stdout)
    expect(ledger.dropped).toMatchObject({ closed: 0, shutdown: 0 })
    expect(ledger.delivered).toBe(ledger.accepted)
    await server.close()
  })
})

describe('flush and close of the process', () => {
  it.runIf(full)('end though the application goes on tracking, and leave no listeners behind', async () => {
    const { stdout, stderr } = await runProgram('never-quiet.js', receiver.variables)
    const { flushMs, closeMs, ledger } = JSON.parse(stdout)
    expect(flushMs).toBeLessThan(3000)
    expect(closeMs).toBeLessThan(3000)
    expect(ledger).toMatchObject({ queued: 0, inFlight: 0, dropped: { shutdown: 0 } })
    expect(ledger.lanes.map(({ state }: { state: string }) => state)).toEqual(['closed', 'closed', 'closed'])
    expect(stderr).not.toContain('MaxListeners')
  })

  it.runIf(full)('do not wait for an engine of a thread that has ended, but count it', async () => {
    const { stdout } = await runProgram('worker-of-the-application.js', receiver.variables)
    expect(JSON.parse(stdout)).toMatchObject({ accepted: 2, delivered: 2, ms: expect.any(Number) })
    expect(JSON.parse(stdout).ms).toBeLessThan(3000)
  })

  it('tell what was lost with a worker of pino’s that ended, and count it', async () => {
    const server = await FaultServer.start(() => ({ type: 'silence' }))
    const variables = { ...receiver.variables, SLUICE_URL: server.url }
    const { stdout, stderr } = await runProgram('pino-worker-lost.js', variables)
    expect(stderr).toContain('sluice: 10 records lost: the worker that delivered them has ended\n')
    expect(JSON.parse(stdout)).toMatchObject({ accepted: 10, queued: 0, inFlight: 0, dropped: { shutdown: 10 } })
    await server.close()
  })

  const ends: [string, string[]][] = [
    ['before', ['target', 'stream', 'thread']],
    ['during', ['target', 'stream', 'thread']],
    ['starting', ['target']],
  ]

  it.runIf(full && process.platform === 'linux').each(ends)(
    'do not wait for threads that are terminated, whatever they started: %s',
    async (when, ways) => {
      const server = await FaultServer.start(() => ({ type: 'silence' }))
      const variables = { ...receiver.variables, ...ampleTime, SLUICE_URL: server.url }
      const startedAt = performance.now()
      const program = startProgram('pool-terminates-threads.js', { arguments: [when, ...ways], variables })
      const { code, stdout, stderr } = await program.ended
      expect(performance.now() - startedAt).toBeLessThan(atOnceMs)
      const { accepted, pending, lost } = JSON.parse(stdout)
      expect({ code, pending }).toEqual({ code: 0, pending: 0 })
      expect(lost).toBe(accepted)
      if (when !== 'starting') {
        const told = 'sluice: 10 records lost: the worker that delivered them has ended'
        expect(stderr.trim().split('\n')).toEqual(ways.map(() => told))
      }
      await server.close()
    },
  )

  it.runIf(full)('say once in the process that Sluice is off, whatever number of threads would', async () => {
    const { stderr } = await runProgram('several-threads-off.js', { SLUICE_MAX_CONNECTION: '1' })
    expect(stderr.trim().split('\n')).toEqual([
      'sluice: unknown variable SLUICE_MAX_CONNECTION; did you mean SLUICE_MAX_CONNECTIONS?',
      expect.stringMatching(/^sluice: off: /),
    ])
  })
})

describe('instances with the same options', () => {
  const open: Sluice[] = []
  afterEach(async () => {
    for (const sluice of open.splice(0)) await sluice.close({ timeoutMs: 0 })
  })

  it('share one engine, and each is closed for itself', async () => {
    const options = { ...receiver.options, onError: () => {} }
    const [one, other] = [createSluice(options), createSluice(options)]
    open.push(one, other)
    one.track(1)
    other.track(2)
    expect((await one.flush()).accepted).toBe(2)
    await one.close()
    one.track(3)
    other.track(4)
    expect(await other.close()).toMatchObject({ accepted: 4, delivered: 3, dropped: { closed: 1 } })
    expect((await receiver.values()).map(({ eventId }) => eventId).sort()).toEqual([1, 2, 4])
  })

  it('tell of each kind of wrong event once', async () => {
    const told: string[] = []
    const sluice = createSluice({ ...receiver.options, onError: ({ message }) => told.push(message) })
    for (const wrong of [Number.NaN, 1.5, -1, '7', undefined, {}, Number.NaN, -2, 2.5]) sluice.track(wrong as number)
    await sluice.close()
    expect(told.map((message) => message.replace(/^.*from 0(, got )?/, '')).sort()).toEqual(
      ['', '"7"', '-1', '1.5', 'NaN', 'an object'].sort(),
    )
  })

  it('never throw from track, whatever it is given', async () => {
    const sluice = createSluice({ ...receiver.options, onError: () => {} })
    open.push(sluice)
    const hostile = {
      get timeStamp(): number {
        throw new Error('getter')
      },
    }
    for (const timeStamp of [
      Symbol('s'),
      Object.create(null),
      { valueOf: 1 },
      1n,
      '5',
      true,
      new Date(Number.NaN),
      1e300,
    ]) {
      sluice.track(1, { timeStamp: timeStamp as never })
    }
    sluice.track(1, hostile)
    sluice.track(Symbol('s') as never)
    expect(await sluice.close()).toMatchObject({ accepted: 0, invalid: 10 })
  })
})
