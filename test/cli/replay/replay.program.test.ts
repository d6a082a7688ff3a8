import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { delivered, type Fault, FaultServer } from '../../support/fault-server.js'
import { full } from '../../support/full.js'
import { type Running, startProgram } from '../../support/programs.js'
import { answers } from '../../support/scripted-sender.js'
import { filesIn, linesIn, setUpSpool, spoolFolder } from '../../support/spool.js'

let server: FaultServer
let dir: string
beforeEach(async () => {
  server = await FaultServer.start()
  dir = spoolFolder()
})
afterEach(() => server.close())

const answer = (status: number, body = ''): Fault => ({ type: 'answer', status, body })
const patience = { timeout: 20_000, interval: 50 }
const segmentsIn = (folder: string) => filesIn(folder).filter((path) => path.endsWith('.ndjson'))
const bodies = (count: number) => Array.from({ length: count }, (_, number) => `{"message":"left ${number}"}`)

/** Leaves so many log records, and one value record, in the spool, as a process that has ended. */
async function leave(count: number, { rejected = false } = {}): Promise<void> {
  const { clock, sender, spool, delivery, log, value } = setUpSpool(dir)
  sender.answer = () => (rejected ? answers.rejected : answers.refused)
  for (const body of bodies(count)) log(body)
  value('{"eventId":7}')
  if (rejected) await clock.advance(60_000)
  const closed = delivery.close({ timeoutMs: 0 })
  await clock.advance(1)
  await closed
  spool.close()
}

function start(folder: string, options: readonly string[] = []): Running {
  const running = startProgram('../../dist/cli.js', {
    arguments: ['replay', folder, ...options],
    variables: { SLUICE_URL: server.url, SLUICE_API_KEY: 'k' },
  })
  onTestFinished(() => void running.process.kill('SIGKILL'))
  return running
}

async function replay(folder: string, ...options: string[]) {
  const { code, stdout, stderr } = await start(folder, options).ended
  return { code, stdout, stderr: stderr.replace(/^\d+ %, .*\n/gm, '') }
}

describe('sluice replay', () => {
  it.runIf(full).each([
    ['500', answer(500)],
    ['403', answer(403)],
  ])(
    'sends all records but one that always gets %s, does not wait for that one, and keeps it',
    async (status, fault) => {
      await leave(500)
      server.script = ({ body }) => (body === '{"message":"left 0"}' ? fault : delivered)
      const { code, stdout } = await replay(dir)
      expect({ code, stdout }).toEqual({
        code: 1,
        stdout: expect.stringMatching(
          new RegExp(
            `^500 of 501 records delivered\n1 not delivered, still there\nstopped: the service does not take the rest: .*${status}`,
          ),
        ),
      })
      server.script = () => delivered
      expect(await replay(dir)).toMatchObject({ code: 0, stdout: '1 of 1 record delivered\n' })
    },
  )

  it('sends the records that a process has left, to their buckets and with their keys, and removes the files', async () => {
    await leave(500)
    const keys = linesIn(dir).map(({ idempotencyKey }) => idempotencyKey)
    expect(await replay(dir)).toEqual({ code: 0, stdout: '501 of 501 records delivered\n', stderr: '' })
    expect(server.taken.toSorted()).toEqual([...bodies(500), '{"eventId":7}'].sort())
    expect(server.requests.map(({ headers }) => headers.get('idempotency-key')).sort()).toEqual(keys.sort())
    expect(new Set(server.requests.map(({ path }) => path))).toEqual(new Set(['/logs/b', '/value_tracking/b']))
    expect(readdirSync(dir)).toEqual([])
    expect(await replay(dir)).toEqual({
      code: 0,
      stdout: '0 of 0 records delivered: there are none in this folder\n',
      stderr: '',
    })
  })

  it.runIf(full)('sends a copy of one lane’s folder', async () => {
    await leave(5)
    const copy = join(spoolFolder(), 'copy')
    cpSync(dirname(segmentsIn(dir).find((path) => path.includes('info-'))!), copy, { recursive: true })
    expect(await replay(copy)).toMatchObject({ code: 0 })
    expect(server.taken).toEqual(bodies(5))
  })

  it('with --dry-run sends nothing, needs no configuration, and counts', async () => {
    await leave(3)
    const before = filesIn(dir)
    const { code, stdout, stderr } = await startProgram('../../dist/cli.js', {
      arguments: ['replay', dir, '--dry-run'],
    }).ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe('4 records; nothing was sent\n  1 values of bucket b\n  3 logs of bucket b\n')
    expect(filesIn(dir)).toEqual(before)
  })

  it.runIf(full).each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('goes on where it was ended by %s', async (signal) => {
    await leave(2000)
    server.script = () => ({ ...delivered, afterMs: 5 })
    const first = start(dir, ['--limit-rate', '400'])
    await vi.waitFor(() => expect(server.taken.length).toBeGreaterThan(200), patience)
    first.process.kill(signal)
    const ended = await first.ended
    const sent = server.taken.length
    if (signal !== 'SIGKILL') {
      expect(ended).toMatchObject({ code: 1 })
      expect(ended.stdout).toContain(`${sent} of 2001 records delivered\n${2001 - sent} not delivered, still there\n`)
      expect(ended.stdout).toContain(`stopped: interrupted by ${signal}\nto go on, give the same command again\n`)
    }
    expect(sent).toBeLessThan(2001)
    expect(await replay(dir)).toMatchObject({ code: 0 })
    expect(new Set(server.taken).size).toBe(2001)
    const repeated = server.taken.length - 2001
    expect(repeated).toBeLessThanOrEqual(signal === 'SIGKILL' ? 300 : 0)
    expect(readdirSync(dir)).toEqual([])
  })

  it.runIf(full)('keeps to --limit-rate', async () => {
    await leave(300)
    const startedAt = performance.now()
    expect(await replay(dir, '--limit-rate', '200')).toMatchObject({ code: 0 })
    expect(performance.now() - startedAt).toBeGreaterThan(1000)
  })

  it('keeps rejected records where they are, names the reasons, and ends with 1', async () => {
    await leave(10)
    server.script = ({ body }) =>
      /left [37]"/.test(body) ? answer(400, '{"validationErrors":[{"name":"message","message":"odd"}]}') : delivered
    const { code, stdout } = await replay(dir)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^9 of 11 records delivered\n2 rejected, still there:\n {2}2 × .*message: odd.*\n$/)
    server.script = () => delivered
    expect(await replay(dir)).toEqual({ code: 0, stdout: '2 of 2 records delivered\n', stderr: '' })
  })

  it.runIf(full)('stops at once when the key is wrong', async () => {
    await leave(10)
    server.script = () => answer(401)
    const { code, stdout } = await replay(dir)
    expect(code).toBe(1)
    expect(stdout).toContain(
      '0 of 11 records delivered\n11 not delivered, still there\nstopped: the key is missing or wrong',
    )
    expect(segmentsIn(dir)).toHaveLength(2)
  })

  it('stops where a gateway refuses every record, keeps them, and says what the page says', async () => {
    await leave(10)
    server.script = () => ({ ...answer(400), body: '<title>400 No required SSL certificate was sent</title>' })
    const { code, stdout } = await replay(dir)
    expect(code).toBe(1)
    expect(stdout).toContain('0 of 11 records delivered\n11 not delivered, still there\nstopped: a web page answers')
    expect(stdout).toContain('(400): 400 No required SSL certificate was sent; Sluice sends no client certificate')
    server.script = () => delivered
    expect(await replay(dir)).toEqual({ code: 0, stdout: '11 of 11 records delivered\n', stderr: '' })
  })

  it('sends dead letters only when DIR is their folder', async () => {
    await leave(3, { rejected: true })
    expect(await replay(dir)).toMatchObject({
      code: 0,
      stdout: '0 of 0 records delivered: there are none in this folder\n',
    })
    const folder = join(dir, 'dead-letter')
    expect(await replay(folder)).toMatchObject({ code: 0, stdout: '4 of 4 records delivered\n' })
    expect(server.taken).toHaveLength(4)
    expect(segmentsIn(dir)).toEqual([])
  })

  it('delivers the intact lines of a damaged file, keeps the file, and ends with 1', async () => {
    await leave(10)
    const path = segmentsIn(dir).find((each) => each.includes('info-'))!
    truncateSync(path, statSync(path).size - 5)
    const { code, stdout } = await replay(dir)
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: '10 of 10 records delivered\ndamaged lines: 1, kept in files named FILE.damaged\n',
    })
    expect(existsSync(`${path}.damaged`)).toBe(true)
  })

  it.runIf(full)('leaves other files alone and names them', async () => {
    await leave(3)
    const folder = join(dir, readdirSync(dir)[0]!)
    writeFileSync(join(folder, 'export.ndjson'), '{"my":"data"}\n')
    execFileSync('mkfifo', [join(folder, 'info-000009.ndjson')])
    symlinkSync(dir, join(dir, '01234567-0123456789ab'))
    const { code, stdout, stderr } = await replay(dir)
    expect({ code, stdout }).toEqual({ code: 0, stdout: '4 of 4 records delivered\n' })
    expect(stderr).toContain('export.ndjson has no name that Sluice gives: it is left alone\n')
    expect(stderr).toContain('info-000009.ndjson is a named pipe, not a file: it is left alone\n')
    expect(readdirSync(folder).sort()).toEqual(['export.ndjson', 'info-000009.ndjson'])
  })

  it('refuses the folder of a running process', async () => {
    const living = setUpSpool(dir)
    living.sender.answer = () => answers.refused
    living.log('{"message":"left 0"}')
    await living.clock.advance(1)
    const { code, stderr } = await replay(dir)
    expect(code).toBe(1)
    expect(stderr).toMatch(/belongs to process \d+ of .*, which is running: its records are being delivered\n$/)
    expect(server.requests).toEqual([])
  })

  it.runIf(full)('waits to see whether an invisible process runs, then takes its folder', async () => {
    await leave(1)
    const folder = join(dir, readdirSync(dir)[0]!)
    writeFileSync(
      join(folder, 'lock-1'),
      JSON.stringify({ host: 'elsewhere', pid: 1, boot: 'b', namespace: 'n', thread: 1, started: '1' }),
    )
    const { code, stderr } = await replay(dir)
    expect(stderr).toContain('waiting 15 s to see whether process 1 of elsewhere still runs')
    expect(code).toBe(0)
  })

  it.runIf(full).each<[string[], string]>([
    [[], 'DIR: expected the name of a folder, got none'],
    [['a', 'b'], 'DIR: expected one folder, got 2: a, b'],
    [['a', '--limit-rate', '0'], '--limit-rate: expected a whole number from 1, got "0"'],
    [['a', '--limt-rate', '5'], 'unknown option --limt-rate; did you mean --limit-rate?'],
    [['/not-there'], 'there is no such folder: /not-there'],
  ])('called with %j ends with 2 and says: %s', async (written, words) => {
    const variables = { SLUICE_URL: server.url, SLUICE_API_KEY: 'k' }
    const { code, stdout, stderr } = await startProgram('../../dist/cli.js', {
      arguments: ['replay', ...written],
      variables,
    }).ended
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(words)
  })

  it.runIf(full)('prints its help', async () => {
    const { code, stdout } = await startProgram('../../dist/cli.js', { arguments: ['replay', '--help'] }).ended
    expect(code).toBe(0)
    for (const name of ['DIR', '--dry-run', '--limit-rate', 'Exit status']) expect(stdout).toContain(name)
  })
})
