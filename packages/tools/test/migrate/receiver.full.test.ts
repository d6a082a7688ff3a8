import { existsSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ContentServer } from '../../../../test/support/content-server.js'
import { full } from '../../../../test/support/full.js'
import { startTestReceiver, type TestReceiver } from '../../../../test/support/receiver.js'
import { ReceiverContent } from '../../../../test/support/receiver-content.js'
import { articles, MigratedFile, sorted, titlesOf } from '../support/migrated-file.js'

let receiver: TestReceiver
let content: ReceiverContent
beforeEach(async () => {
  receiver = await startTestReceiver()
  content = new ReceiverContent(receiver)
  await content.makeType('article')
})
afterEach(() => receiver.close())

const fileOf = (lines: readonly (string | object)[], variables: Record<string, string> = receiver.variables) =>
  new MigratedFile(variables, lines)
const titles = async () => sorted((await content.entries('article')).map(({ fields }) => fields.title))
/** A proxy before the receiver that injects the faults of a test. */
const between = () =>
  ContentServer.start({ behind: receiver.url, apiKey: receiver.apiKey, accessToken: receiver.apiKey })

describe('sluice-tools migrate and the receiver', () => {
  it('create entries that keep their times and their state, draft or published', async () => {
    const times = { createdAt: '2020-01-01T00:00:00Z', updatedAt: '2021-01-01T00:00:00.123456789Z' }
    const published = { ...times, publishedAt: '2022-01-01T00:00:00+00:00' }
    const file = fileOf([
      { fields: { title: 'a', body: '<p>ü 😀</p>' }, ...published },
      { fields: { title: 'b' }, ...times },
      { fields: { title: 'c' } },
    ])
    expect(await file.run('--concurrency', '1')).toMatchObject({ code: 0, stdout: '3 of 3 lines have arrived\n' })
    const [a, b, c] = await content.entries('article')
    expect(a).toMatchObject({ state: 'Published', fields: { title: 'a', body: '<p>ü 😀</p>' }, ...published })
    expect(b).toMatchObject({ state: 'Draft', ...times, publishedAt: null })
    expect(c).toMatchObject({ state: 'Draft', fields: { title: 'c' } })
    const ids = [...file.journal.matchAll(/"id":"([\w-]+)","digest"/g)].map(([, id]) => id)
    expect(ids).toEqual([a, b, c].map((entry) => entry?.id))
  })

  it.runIf(full)(
    'give a line that names a content type to that one, and refuse a line whose type does not exist',
    async () => {
      await content.makeType('note')
      const file = fileOf([
        { fields: { title: 'a' } },
        { fields: { title: 'b' }, contentTypeKey: 'note' },
        { fields: { title: 'c' }, contentTypeKey: 'nothing' },
        { fields: { title: 'd' } },
      ])
      expect(await file.run('--dry-run')).toMatchObject({ code: 1 })
      expect(file.rejects).toMatchObject([
        { line: 3, reasons: [expect.stringContaining('contentTypeKey: there is no content type nothing in demo')] },
      ])
      expect(await file.run('--concurrency', '1')).toMatchObject({ code: 1 })
      expect(file.rejects).toMatchObject([{ line: 3, status: 404 }])
      expect(await titles()).toEqual(['a', 'd'])
      expect((await content.entries('note')).map(({ fields }) => fields.title)).toEqual(['b'])
    },
  )

  it.runIf(full)('accept the id of the type, too', async () => {
    const file = fileOf(articles(2))
    file.type = (await content.makeType('page')).id
    expect(await file.run()).toMatchObject({ code: 0 })
    expect(await content.entries('page')).toHaveLength(2)
  })

  const invalid: [string, object][] = [
    ['a field that is not in the schema', { fields: { title: 'x', colour: 'red' } }],
    ['a required field that is missing', { fields: { body: 'x' } }],
    ['a required field that is null', { fields: { title: null } }],
    ['a field that is null', { fields: { title: 'x', body: null } }],
    ['a text that is a number', { fields: { title: 7 } }],
    ['a text that is an object', { fields: { title: { text: 'x' } } }],
    ['a text that is too long', { fields: { title: '😀'.repeat(41) } }],
    ['a time without its seconds', { fields: { title: 'x' }, createdAt: '2024-01-01T00:00Z' }],
    ['a time that is null', { fields: { title: 'x' }, publishedAt: null }],
    ['a day that there is not', { fields: { title: 'x' }, updatedAt: '2023-02-29T00:00:00Z' }],
  ]
  const valid: [string, object][] = [
    ['a text as long as may be', { fields: { title: '😀'.repeat(40) } }],
    ['an empty text', { fields: { title: '', body: '' } }],
    ['a time with nine decimals', { fields: { title: 'x' }, createdAt: '2024-01-01T00:00:00.123456789Z' }],
  ]
  it('agree about a line, dry or not', async () => {
    const lines = [...invalid, ...valid]
    const file = fileOf(lines.map(([, line]) => line))
    const numbers = () => file.rejects?.map(({ line }) => lines[line - 1]?.[0])
    expect(await file.run('--dry-run')).toMatchObject({ code: 1 })
    expect(numbers()).toEqual(invalid.map(([name]) => name))
    expect(await content.entries('article')).toEqual([])
    expect(await file.run()).toMatchObject({ code: 1 })
    expect(numbers()).toEqual(invalid.map(([name]) => name))
    expect(await content.entries('article')).toHaveLength(valid.length)
  })

  it.runIf(full)(
    'put lines that are too large for the receiver among the rejects, and do not stop at a series of them',
    async () => {
      const large = { fields: { title: 'x', body: 'x'.repeat(1_100_000) } }
      const file = fileOf([...Array.from({ length: 25 }, () => large), { fields: { title: 'ok' } }])
      const { code, stdout } = await file.run('--concurrency', '1')
      expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining('25 refused by the service') })
      expect(file.rejects).toMatchObject(Array.from({ length: 25 }, () => ({ status: 413 })))
      expect(await titles()).toEqual(['ok'])
    },
  )
})

describe('sluice-tools migrate stops at once', () => {
  it.runIf(full).each<[string, Record<string, string>, string, string]>([
    [
      'the key is wrong',
      { SLUICE_API_KEY: 'wrong-key' },
      'article',
      'the API key (SLUICE_API_KEY) is missing or wrong',
    ],
    ['the token is wrong', { SLUICE_ACCESS_TOKEN: 'wrong' }, 'article', 'the access token (SLUICE_ACCESS_TOKEN) is'],
    ['the content type is unknown', {}, 'artikel', 'project demo has no content type artikel'],
  ])('when %s, with one message and no rejects', async (_, variables, type, words) => {
    const file = fileOf(articles(500), { ...receiver.variables, ...variables })
    file.type = type
    const { code, stdout, stderr } = await file.run()
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/^0 lines have arrived\n/) })
    expect(stderr).toContain(words)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(file.rejects).toBeUndefined()
    expect(await content.entries('article')).toEqual([])
  })

  it.runIf(full)('in a dry run, too, when the plan has no content', async () => {
    await content.setPlan(false)
    const { code, stderr } = await fileOf(articles(3)).run('--dry-run')
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('plan or payment') })
  })
})

describe.runIf(full)('sluice-tools migrate that is killed, again and again', () => {
  it('makes each entry once', async () => {
    const server = await between()
    const file = fileOf(articles(300), server.variables)
    for (let round = 1; round <= 6; round++) {
      const { reached, release } = server.holdAfter(server.requests.length + 1 + 7 * round)
      const running = file.start(['--concurrency', '16'])
      await Promise.race([reached, running.ended])
      running.process.kill('SIGKILL')
      expect(await running.ended).toMatchObject({ signal: 'SIGKILL' })
      release()
    }
    server.fault = () => undefined
    const { code, stdout } = await file.run()
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('300 of 300 lines have arrived (') })
    expect(await titles()).toEqual(sorted(titlesOf(300)))
    expect(existsSync(`${file.journalPath}.lock`)).toBe(false)
    await server.close()
  })
})

describe('a service that goes away in the middle', () => {
  it('stops the migration; the same command goes on, and each entry is there once', async () => {
    const server = await between()
    const file = fileOf(articles(100), { ...server.variables, SLUICE_RETRY_BASE_MS: '1' })
    const { port } = new URL(server.url)
    server.fault = ({ number }) => {
      if (number !== 40) return undefined
      void server.close()
      return 'reset-after'
    }
    const first = await file.run('--concurrency', '4')
    expect(first).toMatchObject({ code: 1, stderr: expect.stringContaining('the request could not be sent') })
    const unanswered = file.rejects?.map(({ line }) => line) ?? []
    expect(file.rejects).toMatchObject(unanswered.map(() => ({ code: 'no-answer', mayHaveArrived: true })))
    const back = await ContentServer.start({
      behind: receiver.url,
      apiKey: receiver.apiKey,
      accessToken: receiver.apiKey,
      port: Number(port),
    })
    const second = await file.run()
    expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining('100 of 100 lines have arrived') })
    const named = [...second.stderr.matchAll(/^line (\d+): sent again/gm)].map(([, line]) => Number(line))
    expect(named.sort((a, b) => a - b)).toEqual(unanswered)
    expect(await titles()).toEqual(sorted(titlesOf(100)))
    await back.close()
  })
})

describe.runIf(full)('two migrations of one file', () => {
  it('that begin at the same time: one works, and the others say so', async () => {
    const file = fileOf(articles(200))
    const all = await Promise.all(Array.from({ length: 4 }, () => file.run()))
    const done = all.filter(({ code }) => code === 0)
    const refused = all.filter(({ stderr }) => /process \d+ migrates/.test(stderr))
    expect({ done: done.length > 0, settled: done.length + refused.length }).toEqual({ done: true, settled: 4 })
    expect(await titles()).toEqual(sorted(titlesOf(200)))
    expect(readFileSync(file.journalPath, 'utf8').split('"digest"')).toHaveLength(201)
  })
})
