import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSluice } from 'sluice'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { delivered, type Fault, FaultServer } from '../../support/fault-server.js'
import { full, rowsOf } from '../../support/full.js'
import { type Running, type StartOptions, startProgram } from '../../support/programs.js'
import { filesIn, linesIn, spoolFolder } from '../../support/spool.js'

let server: FaultServer
let dir: string
beforeEach(async () => {
  server = await FaultServer.start()
  dir = spoolFolder()
})
afterEach(() => server.close())

const answer = (status: number): Fault => ({ type: 'answer', status })
const patience = { timeout: 20_000, interval: 100 }

function start(variables: Record<string, string>, options: StartOptions = {}): Running {
  const running = startProgram('spools.js', {
    ...options,
    variables: {
      SLUICE_URL: server.url,
      SLUICE_API_KEY: 'k',
      SLUICE_BUCKET: 'b',
      SLUICE_SPOOL_DIR: dir,
      SLUICE_RETRY_BASE_MS: '20',
      SLUICE_RETRY_CAP_MS: '200',
      SLUICE_PROBE_BASE_MS: '50',
      SLUICE_PROBE_CAP_MS: '200',
      ...variables,
    },
  })
  onTestFinished(() => void running.process.kill('SIGKILL'))
  return running
}

function numberOf(body: string): number {
  const { eventId, message = '' } = JSON.parse(body) as { eventId?: number; message?: string }
  return eventId ?? Number(/^line (\d+)/.exec(message)?.[1])
}

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number)
const arrived = () => [...new Set(server.taken.map(numberOf))].sort((a, b) => a - b)
const segments = () => filesIn(dir).filter((path) => path.endsWith('.ndjson'))
const onDisk = () => new Set(linesIn(dir).map(({ body }) => numberOf(body)))
const missing = (wanted: readonly number[]) => {
  const there = new Set(server.taken.map(numberOf))
  return wanted.filter((number) => !there.has(number))
}
const expectAll = (count: number) => vi.waitFor(() => expect(missing(numbers(count)).length).toBe(0), patience)

async function kill({ process, ended }: Running): Promise<void> {
  process.kill('SIGKILL')
  await ended
}

describe('a spool that cannot be made', () => {
  it.skipIf(process.platform !== 'linux')('does not hold the process, wherever it is said to be', async () => {
    const { ended } = start({ SLUICE_SPOOL_DIR: '/proc/nowhere/below', COUNT: '3', END: 'itself' })
    expect(await ended).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('the spool in /proc/nowhere/below cannot be written (ENOENT'),
    })
    expect(arrived()).toEqual(numbers(3))
  })
})

describe('a process that is killed', () => {
  const all = [
    ['pino', 'worker'],
    ['sluicePino', 'worker'],
    ['winston', 'worker'],
    ['winston', 'inline'],
    ['track', 'worker'],
    ['track', 'inline'],
  ] as const

  it.runIf(full).each(all)('leaves nothing behind that the next one would not deliver: %s, %s', async (way, mode) => {
    // Values have one request in flight on each connection. Lines would arrive before the test looks.
    server.script = () => ({ ...delivered, afterMs: 3 })
    const variables = { WAY: way, SLUICE_MODE: mode, SLUICE_MAX_CONNECTIONS: '4' }
    const first = start({ ...variables, COUNT: '3000' })
    await vi.waitFor(() => {
      expect(server.taken.length).toBeGreaterThan(100)
      const reached = new Set([...arrived(), ...onDisk()])
      expect(reached.size).toBe(3000)
    }, patience)
    await kill(first)
    const taken = server.taken.length
    expect(taken).toBeLessThan(3000)
    // `track` without a record starts nothing.
    const next = start({ ...variables, COUNT: '1', FROM: '3000' })
    await expectAll(3001)
    // A record that the server took without an acknowledgement comes twice, with the same key.
    const keys = new Set(server.requests.map(({ headers }) => headers.get('idempotency-key')))
    expect(keys.size).toBe(3001)
    // A bare pino target does not hear of signals, so the acknowledged records leave the disk some time later.
    if (way === 'pino') await vi.waitFor(() => expect(segments()).toEqual([]), patience)
    next.process.kill('SIGTERM')
    expect((await next.ended).stderr).toBe('')
    expect(segments()).toEqual([])
  })

  it.runIf(full)('again and again, at any moment, loses nothing of what was on disk', async () => {
    server.script = () => ({ ...delivered, afterMs: 2 })
    const reached = new Set<number>()
    for (let round = 0; round < 5; round++) {
      const running = start({ WAY: 'track', COUNT: '500', FROM: String(round * 500), SLUICE_MAX_CONNECTIONS: '2' })
      const before = server.taken.length
      await vi.waitFor(() => expect(server.taken.length).toBeGreaterThan(before + 20 * round), patience)
      await kill(running)
      for (const number of [...onDisk(), ...arrived()]) reached.add(number)
    }
    start({ WAY: 'track', COUNT: '1', FROM: '2500' })
    reached.add(2500)
    await vi.waitFor(() => expect(missing([...reached]).length).toBe(0), patience)
    expect(arrived().filter((number) => !reached.has(number))).toEqual([])
    expect(reached.size).toBeGreaterThan(1000)
  })
})

describe('processes on one folder', () => {
  it.runIf(full)('leave each other alone; what two of them leave is sent once by those that follow', async () => {
    server.script = () => answer(503)
    const first = start({ WAY: 'track', COUNT: '400' })
    const second = start({ WAY: 'track', COUNT: '400', FROM: '400' })
    await vi.waitFor(() => expect(onDisk().size).toBe(800), patience)
    // From the death of the first on, the second may take over its folder.
    expect(readdirSync(dir)).toHaveLength(2)
    await kill(first)
    await kill(second)
    server.script = () => delivered
    for (let count = 0; count < 3; count++) start({ WAY: 'track', COUNT: '1', FROM: String(800 + count) })
    await expectAll(803)
    await vi.waitFor(() => expect(segments()).toEqual([]), patience)
    expect(server.taken).toHaveLength(803)
  })
})

describe('the end of a process', () => {
  const all = [
    ['winston', 'worker', 'exit', 3],
    ['winston', 'worker', 'by itself', 0],
    ['track', 'inline', 'exit', 3],
    ['track', 'inline', 'by itself', 0],
    ['pino', 'worker', 'exit', 3],
    ['pino', 'worker', 'by itself', 0],
  ] as const

  it.each(rowsOf(all, ([way, , end]) => way === 'pino' && end === 'by itself'))(
    'leaves in the spool what it cannot deliver, and says nothing: %s, %s, %s',
    async (way, mode, end, code) => {
      server.script = () => answer(503)
      const variables = { WAY: way, SLUICE_MODE: mode, SLUICE_SHUTDOWN_TIMEOUT_MS: '2000' }
      const ended = await start({ ...variables, COUNT: '100', END: end }).ended
      expect(ended).toMatchObject({ code, stderr: '' })
      expect(onDisk().size).toBe(100)
      server.script = () => delivered
      start({ ...variables, COUNT: '1', FROM: '100' })
      await expectAll(101)
      expect(server.taken).toHaveLength(101)
    },
  )

  it.runIf(full).each(['worker', 'inline'])(
    'is not delayed when the key is wrong, and the ledger says spooled: %s',
    async (mode) => {
      server.script = () => answer(401)
      const { ended } = start({ WAY: 'track', COUNT: '50', END: 'by itself', SLUICE_DEBUG: 'true', SLUICE_MODE: mode })
      const startedAt = performance.now()
      const { stderr } = await ended
      expect(performance.now() - startedAt).toBeLessThan(4000)
      expect(stderr).toContain('ledger accepted=50 delivered=0 rejected=0 dropped=0 spooled=50 queued=0 inFlight=0')
      expect(stderr).not.toContain('not delivered before the end')
    },
  )
})

describe('a lane that is paused', () => {
  it.runIf(full)('waits on disk with memory bounded, and delivers all when the key is right again', async () => {
    server.script = () => answer(401)
    start({ WAY: 'winston', COUNT: '5000', SLUICE_MAX_QUEUE_RECORDS: '100' })
    await vi.waitFor(() => expect(onDisk().size).toBe(5000), patience)
    server.script = () => delivered
    await expectAll(5000)
    expect(server.taken).toHaveLength(5000)
    await vi.waitFor(() => expect(segments()).toEqual([]), patience)
  })
})

/** Mounts a file system in memory on the folder. False where that is not permitted. */
function mount(options: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', dir], { stdio: 'pipe' })
  } catch {
    console.warn(`SKIPPED: mounting is not permitted here (mount -t tmpfs -o ${options})`)
    return false
  }
  onTestFinished(() => void execFileSync('umount', ['-l', dir], { stdio: 'pipe' }))
  return true
}

describe('a disk that fails', () => {
  it('by being full: memory takes over, what memory loses is counted, and delivery goes on', async (context) => {
    if (!mount('size=256k')) return context.skip()
    server.script = () => answer(503)
    const running = start({ WAY: 'winston', COUNT: '4000', SLUICE_SPOOL_MAX_BYTES: '100000000' })
    await vi.waitFor(() => expect(onDisk().size).toBeGreaterThan(500), patience)
    server.script = () => delivered
    await expectAll(4000)
    running.process.kill('SIGTERM')
    const { signal, stderr } = await running.ended
    expect(signal).toBe('SIGTERM')
    expect(stderr.match(/cannot be written/g)).toHaveLength(1)
    expect(stderr).toMatch(/^sluice: the spool in \S+ cannot be written \(ENOSPC.*\): records are in memory alone/)
  })

  it.runIf(full)('by being read-only: records are delivered from memory, told once', async (context) => {
    if (!mount('ro')) return context.skip()
    const { code, stderr } = await start({ WAY: 'winston', COUNT: '500', END: 'by itself' }).ended
    expect(arrived()).toEqual(numbers(500))
    expect(code).toBe(0)
    expect(stderr.trimEnd().split('\n')).toEqual([expect.stringMatching(/cannot be written \(EROFS/)])
  })

  it.runIf(full).each(['worker', 'inline'])(
    'by a limit on the size of files: no signal ends the process: %s',
    async (mode) => {
      server.script = () => answer(503)
      const running = start({ WAY: 'winston', COUNT: '1000', SLUICE_MODE: mode }, { before: 'ulimit -f 8' })
      await vi.waitFor(() => expect(server.requests.length).toBeGreaterThan(2), patience)
      server.script = () => delivered
      await expectAll(1000)
      running.process.kill('SIGTERM')
      const { signal, stderr } = await running.ended
      expect(signal).toBe('SIGTERM')
      expect(stderr).toMatch(/cannot be written \(EFBIG/)
    },
  )

  it.runIf(full)('by being taken away: the process goes on, and so does the spool', async () => {
    server.script = () => answer(503)
    const running = start({ WAY: 'winston', COUNT: '100' })
    await vi.waitFor(() => expect(onDisk().size).toBe(100), patience)
    execFileSync('rm', ['-rf', join(dir, readdirSync(dir)[0]!)])
    server.script = () => delivered
    await expectAll(100)
    running.process.kill('SIGTERM')
    expect(await running.ended).toMatchObject({ signal: 'SIGTERM' })
  })
})

describe('a close() that has no time', () => {
  it.each(rowsOf(['worker', 'inline'] as const, (mode) => mode === 'worker'))(
    '%s: counts as spooled what is on disk, and nothing else',
    async (mode) => {
      server.script = () => ({ type: 'silence' })
      for (const timeoutMs of [0, 20, 40, 80, 120, 160]) {
        const spoolDir = spoolFolder()
        const sluice = createSluice({ url: server.url, apiKey: 'k', bucket: 'b', mode, spoolDir })
        for (let event = 0; event < 1000; event++) sluice.track(event)
        const { accepted, spooled, dropped } = await sluice.close({ timeoutMs })
        expect(accepted).toBe(1000)
        expect(spooled + dropped.shutdown).toBe(1000)
        const files = readdirSync(spoolDir, { recursive: true, encoding: 'utf8' }).filter((name) =>
          name.endsWith('.ndjson'),
        )
        const lines = files.flatMap((name) => readFileSync(join(spoolDir, name), 'utf8').split('\n').slice(0, -1))
        expect(lines.length).toBeGreaterThanOrEqual(spooled)
      }
    },
  )
})

describe('a delivery worker that dies', () => {
  it('leaves what it had taken to the spool, from where its successor delivers it', async () => {
    server.script = () => answer(503)
    const { process, ended } = startProgram('worker-dies-spooling.js', {
      variables: { SLUICE_URL: server.url, SLUICE_API_KEY: 'k', SLUICE_BUCKET: 'b', SLUICE_SPOOL_DIR: dir },
    })
    process.stdout.once('data', () => {
      server.script = () => delivered
    })
    const { code, stdout, stderr } = await ended
    const [atDeath, ledger] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(code).toBe(0)
    expect(atDeath).toEqual({ dropped: 0, spooled: 10 })
    expect(ledger).toMatchObject({ accepted: 10, delivered: 10, adopted: 0, spooled: 0, dropped: { shutdown: 0 } })
    expect(stderr).toContain('10 records that it had taken are left to the spool; starting it again')
    expect(server.taken.map(numberOf).sort((a, b) => a - b)).toEqual(numbers(10))
  })
})
