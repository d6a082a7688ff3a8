import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Fault, FaultServer } from '../../support/fault-server.js'
import { full } from '../../support/full.js'
import { ampleTime, startProgram } from '../../support/programs.js'
import { startTestReceiver } from '../../support/receiver.js'
import { answers } from '../../support/scripted-sender.js'
import { segmentsIn, setUpSpool, spoolFolder } from '../../support/spool.js'

let dir: string
beforeEach(() => {
  dir = spoolFolder()
})

const refusal = (name: string): Fault => ({
  type: 'answer',
  status: 400,
  body: JSON.stringify({ validationErrors: [{ name, attemptedValue: null, message: 'odd' }] }),
})

/** Applications log `line 0`, `line 1` and so on, track one value, and end. The service rejects all, the first line for its own reason. */
async function leave(lines: number, bucket = 'b'): Promise<void> {
  const server = await FaultServer.start()
  server.script = ({ body }) => refusal(body.includes('line 0') ? 'message' : 'level')
  const variables = {
    ...ampleTime,
    SLUICE_URL: server.url,
    SLUICE_API_KEY: 'k',
    SLUICE_BUCKET: bucket,
    SLUICE_SPOOL_DIR: dir,
    END: 'itself',
    // So they are rejected in order.
    SLUICE_MAX_CONNECTIONS: '1',
  }
  for (const own of [
    { WAY: 'sluicePino', COUNT: String(lines) },
    { COUNT: '1', FROM: '7' },
  ]) {
    expect(await startProgram('spools.js', { variables: { ...variables, ...own } }).ended).toMatchObject({ code: 0 })
  }
  await server.close()
}

interface Setting {
  readonly variables?: Record<string, string>
  /** The text of its stdin. */
  readonly input?: string
}

async function run(words: readonly string[], { variables = {}, input }: Setting = {}) {
  const file = join(spoolFolder(), 'input')
  if (input !== undefined) writeFileSync(file, input)
  const { code, stdout, stderr } = await startProgram('../../dist/cli.js', {
    arguments: ['replay', ...words],
    variables,
    ...(input === undefined ? {} : { before: `exec < '${file}'` }),
  }).ended
  return { code, stdout, stderr: stderr.replace(/^\d+ %, .*\n/gm, '') }
}

interface Letter {
  readonly key: string
  readonly reason: string
  readonly file: string
  readonly record: { readonly message?: string }
}

async function json(...words: readonly string[]): Promise<Record<string, unknown>> {
  return JSON.parse((await run([...words, '--json'])).stdout)
}

const letters = async () => (await json(dir, '--list')).letters as readonly Letter[]
const messages = async () => (await letters()).map(({ record }) => record.message)

/** Changes the files of dead letters as a person does in an editor. */
function edit(from: string, to: string): void {
  const folder = join(dir, 'dead-letter')
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.ndjson'))) {
    writeFileSync(join(folder, name), readFileSync(join(folder, name), 'utf8').replace(from, to))
  }
}

const none = { code: 0, stdout: 'there are no such dead letters in this folder\n', stderr: '' }

describe('sluice replay', () => {
  it('lists rejected records by reason, kind and bucket, of a spool or of its dead-letter folder', async () => {
    await leave(3)
    const before = segmentsIn(dir)
    const folder = join(dir, 'dead-letter')
    const { code, stdout, stderr } = await run([dir, '--list'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.replace(folder, 'FOLDER')).toMatch(
      /^4 dead letters in FOLDER:\n {2}3 × .*level: odd.*\n {4}2 logs of bucket b, the newest: \{.*line 2.*\n {4}1 values of bucket b, the newest: \{.*\n {2}1 × .*message: odd.*\n {4}1 logs of bucket b, the newest: .*line 0.*\n$/,
    )
    const facts = await json(folder, '--list')
    const [level, message] = [expect.stringContaining('level: odd'), expect.stringContaining('message: odd')]
    expect(facts).toMatchObject({
      ok: true,
      folder,
      records: 4,
      damaged: 0,
      reasons: [
        {
          reason: level,
          count: 3,
          lanes: [
            { kind: 'logs', bucket: 'b', count: 2 },
            { kind: 'values', bucket: 'b', count: 1 },
          ],
        },
        { reason: message, count: 1, lanes: [{ kind: 'logs', bucket: 'b', count: 1 }] },
      ],
    })
    expect((facts.letters as Letter[])[0]).toEqual({
      key: expect.any(String),
      kind: 'logs',
      bucket: 'b',
      rejectedAt: expect.stringMatching(/^20.*Z$/),
      status: 400,
      reason: message,
      validationErrors: [expect.objectContaining({ name: 'message', message: 'odd' })],
      record: expect.objectContaining({ message: 'line 0', level: 'info' }),
      file: expect.stringContaining(folder),
    })
    expect(await json(dir, '--list', '--reason', 'message: odd')).toMatchObject({ records: 1 })
    expect(segmentsIn(dir)).toEqual(before)
  })

  it('sends what was corrected in an editor, with another idempotency key, and keeps what is still wrong', async () => {
    const receiver = await startTestReceiver()
    onTestFinished(() => receiver.close())
    await leave(2, receiver.project)
    const [first] = await letters()
    edit('line 0', 'corrected')
    edit('"message":"line 1"', '"message":"line 1","strange":7')
    expect(await messages()).toEqual(['corrected', 'line 1', undefined])
    expect((await letters()).map(({ key }) => key)).not.toContain(first!.key)
    const { code, stdout } = await run([join(dir, 'dead-letter')], { variables: receiver.variables })
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringMatching(/^2 of 3 records delivered\n1 rejected, still there:\n {2}1 × .*strange.*\n/),
    })
    expect((await receiver.logs()).map(({ message }) => message)).toEqual(['corrected'])
    expect(await receiver.values()).toMatchObject([{ eventId: 7 }])
    expect((await letters()).map(({ record }) => record)).toMatchObject([{ message: 'line 1', strange: 7 }])
  })

  it.runIf(full)('takes no line that was torn for an edited one', async () => {
    await leave(2)
    edit('"message":"line 1"', '"message:"line 1"')
    const { code, stdout } = await run([dir, '--list'])
    expect({ code, damaged: stdout.split('\n').at(-2) }).toEqual({ code: 1, damaged: 'damaged lines: 1' })
    expect(await messages()).toEqual(['line 0', undefined])
  })

  it.runIf(full)('sends the dead letters of one reason, and leaves the others', async () => {
    const receiver = await startTestReceiver()
    onTestFinished(() => receiver.close())
    await leave(3, receiver.project)
    const chosen = [dir, '--reason', 'message: odd']
    expect(await json(...chosen, '--dry-run')).toMatchObject({ ok: true, records: 1 })
    expect(await run(chosen, receiver)).toEqual({ code: 0, stdout: '1 of 1 record delivered\n', stderr: '' })
    expect((await receiver.logs()).map(({ message }) => message)).toEqual(['line 0'])
    expect(await messages()).toEqual(['line 1', 'line 2', undefined])
  })

  it.runIf(full)('asks before it drops, and drops only what was chosen', async () => {
    await leave(3)
    const refused = await run([dir, '--drop', '--all'])
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain(`drop 4 dead letters of ${join(dir, 'dead-letter')} for ever? [y/N] `)
    const one = [dir, '--drop', '--reason', 'message: odd']
    expect(await run(one, { input: 'no\n' })).toMatchObject({ code: 1 })
    expect(await messages()).toEqual(['line 0', 'line 1', 'line 2', undefined])
    expect(await run(one, { input: 'y\n' })).toMatchObject({ code: 0, stdout: '1 dead letter dropped\n' })
    expect(await messages()).toEqual(['line 1', 'line 2', undefined])
    expect(await json(dir, '--drop', '--all', '--yes')).toEqual({ ok: true, dropped: 3 })
    expect(segmentsIn(dir)).toEqual([])
    expect(await run([dir, '--drop', '--all'])).toEqual(none)
  })

  it.runIf(full)('changes nothing for the process that goes on to write dead letters', async () => {
    const living = setUpSpool(dir)
    living.sender.answer = () => answers.rejected
    const log = async (message: string) => {
      living.log(JSON.stringify({ message }))
      await living.clock.advance(60_000)
    }
    await log('one')
    expect(await run([dir, '--drop', '--all', '--yes'])).toMatchObject({ code: 0 })
    await log('two')
    edit('two', 'second')
    await log('three')
    expect(await messages()).toEqual(['second', 'three'])
  })

  it.runIf(full)('never lists, drops or by a reason sends the other records of a spool', async () => {
    const { clock, sender, spool, delivery, log } = setUpSpool(dir)
    sender.answer = () => answers.refused
    log('{"message":"waits"}')
    const closed = delivery.close({ timeoutMs: 0 })
    await clock.advance(1)
    await closed
    spool.close()
    const variables = { SLUICE_URL: 'http://127.0.0.1:9', SLUICE_API_KEY: 'k' }
    for (const words of [['--reason', 'e'], ['--list'], ['--drop', '--all', '--yes']]) {
      expect(await run([dir, ...words], { variables })).toEqual(none)
    }
    expect(segmentsIn(dir)).toHaveLength(1)
  })

  it.runIf(full).each<[string[], string]>([
    [['--list'], 'DIR: expected the name of a folder, got none'],
    [['/not-there', '--list'], 'there is no such folder: /not-there'],
    [['a', '--list', '--drop'], '--drop: expected without --list, got both'],
    [['a', '--drop', '--dry-run', '--all'], '--dry-run: expected without --drop, got both'],
    [['a', '--drop'], '--drop: expected --reason TEXT or --all, got neither'],
    [['a', '--drop', '--all', '--reason', 'x'], '--drop: expected --reason TEXT or --all, got both'],
    [['a', '--all'], '--all: expected together with --drop, got it alone'],
    [['a', '--list', '--yes'], '--yes: expected together with --drop, got it alone'],
    [['a', '--list', '--limit-rate', '5'], '--limit-rate: expected without --list, got both'],
  ])('called with %j says: %s', async (words, message) => {
    const { code, stdout, stderr } = await run(words)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
  })
})
