import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { lettersIn } from '../../../src/cli/dead-letters/letters.js'
import { type Fault, FaultServer } from '../../support/fault-server.js'
import { full, rowsOf } from '../../support/full.js'
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

function start(words: readonly string[], { variables = {}, input }: Setting = {}) {
  const file = join(spoolFolder(), 'input')
  if (input !== undefined) writeFileSync(file, input)
  return startProgram('../../bin/sluice.js', {
    arguments: ['dead-letters', ...words],
    variables,
    ...(input === undefined ? {} : { before: `exec < '${file}'` }),
  })
}

async function run(words: readonly string[], setting?: Setting) {
  const { code, stdout, stderr } = await start(words, setting).ended
  return { code, stdout, stderr: stderr.replace(/^\d+ %, .*\n/gm, '') }
}

async function json(...words: readonly string[]): Promise<Record<string, unknown>> {
  return JSON.parse((await run([...words, '--json'])).stdout)
}

const letters = async () => (await lettersIn(join(dir, 'dead-letter'), () => {})).letters
const messages = async () => (await letters()).map((letter) => JSON.parse(letter.body() ?? '{}').message)

describe('sluice dead-letters', () => {
  it('lists rejected records by reason, kind and bucket, of a spool or of its dead-letter folder', async () => {
    await leave(3)
    const before = segmentsIn(dir)
    const { code, stdout, stderr } = await run(['list', dir])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(
      /^4 dead letters:\n {2}3 × .*level: odd.*\n {4}2 logs of bucket b: 2-3\n {4}1 values of bucket b: 4\n {2}1 × .*message: odd.*\n {4}1 logs of bucket b: 1\n$/,
    )
    expect(await json('list', join(dir, 'dead-letter'))).toEqual({
      ok: true,
      records: 4,
      damaged: 0,
      reasons: [
        {
          reason: expect.stringContaining('level: odd'),
          count: 3,
          lanes: [
            { kind: 'logs', bucket: 'b', count: 2, numbers: [2, 3] },
            { kind: 'values', bucket: 'b', count: 1, numbers: [4] },
          ],
        },
        {
          reason: expect.stringContaining('message: odd'),
          count: 1,
          lanes: [{ kind: 'logs', bucket: 'b', count: 1, numbers: [1] }],
        },
      ],
    })
    expect(segmentsIn(dir)).toEqual(before)
  })

  it.runIf(full)('shows one record by its number or its key', async () => {
    await leave(1)
    const shown = await json('show', dir, '1')
    expect(shown).toMatchObject({
      ok: true,
      number: 1,
      kind: 'logs',
      bucket: 'b',
      status: 400,
      validationErrors: [{ name: 'message', message: 'odd' }],
      record: { message: 'line 0', level: 'info' },
    })
    expect(await json('show', dir, shown.key as string)).toEqual(shown)
    const { stdout } = await run(['show', dir, '1'])
    expect(stdout).toContain('1: logs of bucket b, rejected at 20')
    expect(stdout).toContain('\n  "message": "line 0"')
  })

  it('sends what was corrected, with another idempotency key, and keeps what is still wrong', async () => {
    const receiver = await startTestReceiver()
    onTestFinished(() => receiver.close())
    await leave(2, receiver.project)
    const [first] = await letters()
    expect(await run(['edit', dir, '1', '--set', 'message=corrected'])).toMatchObject({ code: 0, stderr: '' })
    expect(await run(['edit', dir, '2', '--set', 'strange.member=[7]'])).toMatchObject({ code: 0, stderr: '' })
    expect(await messages()).toEqual(['corrected', 'line 1', undefined])
    expect((await letters()).map(({ idempotencyKey }) => idempotencyKey)).not.toContain(first!.idempotencyKey)
    const { code, stdout } = await run(['replay', dir], { variables: receiver.variables })
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringMatching(/^2 of 3 records delivered\n1 rejected, still there:\n {2}1 × .*strange.*\n$/),
    })
    expect((await receiver.logs()).map(({ message }) => message)).toEqual(['corrected'])
    expect(await receiver.values()).toMatchObject([{ eventId: 7 }])
    expect((await letters()).map((letter) => JSON.parse(letter.body()!))).toMatchObject([
      { message: 'line 1', strange: { member: [7] } },
    ])
  })

  it.runIf(full)('changes a record in an editor', async () => {
    await leave(1)
    const edit = (EDITOR: string) => run(['edit', dir, '1'], { variables: { EDITOR } })
    expect(await edit('sed -i s/line/corrected/')).toMatchObject({ code: 0 })
    expect(await messages()).toEqual(['corrected 0', undefined])
    expect(await edit('true')).toEqual({ code: 0, stdout: '1 is unchanged\n', stderr: '' })
    expect(await edit('false')).toMatchObject({ code: 1, stderr: 'sluice dead-letters: the editor ended with 1\n' })
    const { code, stderr } = await edit('printf "{wrong" >')
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('not valid JSON') })
    expect(await edit('printf "[]" >')).toMatchObject({ code: 1 })
    expect(await edit(`printf '{"a":1,"record":2}' >`)).toMatchObject({ code: 1 })
    expect(await messages()).toEqual(['corrected 0', undefined])
  })

  it('asks before it drops, and drops only what was chosen', async () => {
    await leave(3)
    const refused = await run(['drop', dir, '--all'])
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('drop 4 dead letters for ever? [y/N] ')
    expect(await run(['drop', dir, '1'], { input: 'no\n' })).toMatchObject({ code: 1 })
    expect(await messages()).toEqual(['line 0', 'line 1', 'line 2', undefined])
    expect(await run(['drop', dir, '2'], { input: 'y\n' })).toMatchObject({
      code: 0,
      stdout: '1 dead letter dropped\n',
    })
    expect(await messages()).toEqual(['line 0', 'line 2', undefined])
    expect(await json('drop', dir, '--all', '--yes')).toEqual({ ok: true, dropped: 3 })
    expect(segmentsIn(dir)).toEqual([])
    expect(await run(['drop', dir, '--all'])).toMatchObject({
      code: 0,
      stdout: 'there are no dead letters in this folder\n',
    })
  })

  it.runIf(full)('changes nothing for the process that goes on to write dead letters', async () => {
    const living = setUpSpool(dir)
    living.sender.answer = () => answers.rejected
    const log = async (message: string) => {
      living.log(JSON.stringify({ message }))
      await living.clock.advance(60_000)
    }
    await log('one')
    await log('two')
    expect(await run(['drop', dir, '1', '--yes'])).toMatchObject({ code: 0 })
    await log('three')
    expect(await run(['edit', dir, '1', '--set', 'message=second'])).toMatchObject({ code: 0 })
    await log('four')
    expect(await messages()).toEqual(['second', 'three', 'four'])
  })

  it('never sends the other records of a spool', async () => {
    const { clock, sender, delivery, log } = setUpSpool(dir)
    sender.answer = () => answers.refused
    log('{"message":"waits"}')
    const closed = delivery.close({ timeoutMs: 0 })
    await clock.advance(1)
    await closed
    for (const words of [['replay'], ['list'], ['drop', '--all', '--yes']]) {
      const [action = '', ...options] = words
      expect(await run([action, dir, ...options])).toEqual({
        code: 0,
        stdout: 'there are no dead letters in this folder\n',
        stderr: '',
      })
    }
    expect(segmentsIn(dir)).toHaveLength(1)
  })

  it.each(rowsOf([1, 2, 3, 4, 5, 6, 8], (change) => change === 3))(
    'loses no record when it is killed at the change %i of the folder',
    async (change) => {
      const { clock, sender, log } = setUpSpool(dir)
      sender.answer = () => answers.rejected
      for (const message of ['one', 'two']) log(JSON.stringify({ message }))
      await clock.advance(60_000)
      const running = start(['edit', dir, '1', '--set', 'edited=true'])
      const folder = join(dir, 'dead-letter')
      let names = readdirSync(folder).join()
      let changes = 0
      const ended = running.ended.then(() => true)
      for (let over = false; !over; ) {
        const now = readdirSync(folder).join()
        if (now !== names && ++changes === change) running.process.kill('SIGKILL')
        names = now
        over = await Promise.race([ended, new Promise<false>((resolve) => setImmediate(resolve, false))])
      }
      expect(new Set(await messages())).toEqual(new Set(['one', 'two']))
      // The next command goes on all the same.
      expect(await run(['edit', dir, '1', '--set', 'edited=again'])).toMatchObject({ code: 0 })
      expect(new Set(await messages())).toEqual(new Set(['one', 'two']))
    },
  )

  it.runIf(full).each<[string[], string, number]>([
    [[], 'expected one of list, show, edit, replay, drop, got none', 2],
    [['lst', 'a'], 'unknown action lst; did you mean list?', 2],
    [['list'], 'FOLDER: expected the name of a folder, got none', 2],
    [['list', 'a', '1'], 'list: expected no more, got 1', 2],
    [['list', '/not-there'], 'FOLDER: cannot read /not-there: ENOENT', 2],
    [['list', 'a', '--all'], '--all: list does not take it', 2],
    [['show', 'a'], 'N: expected the number or the key of a record, got none', 2],
    [['drop', 'a'], 'N: expected the number or the key of a record, or --all, got none', 2],
    [['drop', 'a', '1', '--all'], 'drop: expected no more, got 1', 2],
    [['edit', 'a', '1', '--set', 'level'], '--set: expected PATH=VALUE, got "level"', 2],
    [['replay', 'a', '--limit-rate', '0'], '--limit-rate: expected a whole number from 1, got "0"', 2],
    [['show', '.', '1'], 'there is no dead letter 1; there are 0', 1],
  ])('called with %j says: %s', async (words, message, status) => {
    const { code, stdout, stderr } = await run(words)
    expect({ code, stdout }).toEqual({ code: status, stdout: '' })
    expect(stderr).toContain(message)
  })
})
