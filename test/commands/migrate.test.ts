import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { articleType, type ContentFault, type ContentRequest, ContentServer } from '../support/content-server.js'
import { articles, MigratedFile } from '../support/migration.js'
import type { Running } from '../support/programs.js'

let server: ContentServer
beforeEach(async () => {
  server = await ContentServer.start()
})
afterEach(() => server.close())

const fileOf = (lines: readonly (string | object)[]) => new MigratedFile(server.variables, lines)
const titles = () => server.entries.map(({ fields }) => fields.title)
const sorted = (values: readonly unknown[]) => [...values].sort()
const titlesOf = (count: number) => articles(count).map((_, index) => `title ${index + 1}`)
const titleOf = ({ body }: ContentRequest) => (JSON.parse(body) as { fields: { title: string } }).fields.title
const keyOf = ({ headers }: ContentRequest) => headers['idempotency-key']

describe('sluice migrate', () => {
  it('makes an entry of every line, with its times, and ends with 0', async () => {
    const times = {
      createdAt: '2020-01-01T00:00:00Z',
      updatedAt: '2021-01-01T00:00:00.5Z',
      publishedAt: '2022-01-01T00:00Z',
    }
    const file = fileOf([{ fields: { title: 'a' }, ...times }, '', { fields: { title: 'b', body: 'ü\u2028' } }])
    expect(await file.run('--concurrency', '1')).toMatchObject({
      code: 0,
      stdout: '2 of 2 lines have arrived\n',
      stderr: '',
    })
    expect(server.entries).toEqual([
      { id: 'entry_1', type: 'article', fields: { title: 'a' }, ...times },
      { id: 'entry_2', type: 'article', fields: { title: 'b', body: 'ü\u2028' } },
    ])
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(
      Array(2).fill('POST /ng-cms/content/demo/article/migrate'),
    )
    expect(file.rejects).toBeUndefined()
    expect(existsSync(`${file.journalPath}.lock`)).toBe(false)
  })

  it('sends nothing again when it has all arrived', async () => {
    const file = fileOf(articles(30))
    await file.run()
    expect(await file.run()).toMatchObject({
      code: 0,
      stdout: '30 of 30 lines have arrived (30 of them in earlier runs)\n',
    })
    expect(server.requests).toHaveLength(30)
    expect(file.journal).toContain('"id":"entry_30"')
  })

  it('sends what was added to the file since', async () => {
    const file = fileOf(articles(3))
    await file.run()
    file.write(articles(5))
    expect(await file.run()).toMatchObject({ code: 0 })
    expect(titles()).toEqual(titlesOf(5))
  })

  it('takes an empty file for one whose lines have all arrived', async () => {
    expect(await fileOf([]).run()).toMatchObject({ code: 0, stdout: '0 of 0 lines have arrived\n' })
  })

  it.each([1, 3])('has %i entries under way at the same time', async (concurrency) => {
    let underWay = 0
    let most = 0
    let waiting: (() => void)[] = []
    server.fault = () => {
      underWay++
      most = Math.max(most, underWay)
      return new Promise<void>((resolve) => {
        waiting.push(() => {
          underWay--
          resolve()
        })
        // The last lines do not come in full strength.
        if (waiting.length < concurrency && server.requests.length < 12) return
        const all = waiting
        waiting = []
        setImmediate(() => {
          for (const answer of all) answer()
        })
      })
    }
    expect(await fileOf(articles(12)).run('--concurrency', String(concurrency))).toMatchObject({ code: 0 })
    expect(most).toBe(concurrency)
  })

  it('sends a line as it is, so that no number loses a digit', async () => {
    const line = '{"fields": {"title": "a", "body": 12345678901234567890.10}}'
    await fileOf([line]).run()
    expect(server.requests.map(({ body }) => body)).toEqual([line])
  })

  it('says neither key nor token, whatever the service says', async () => {
    const echo = { errors: [{ message: `bad ${server.accessToken} and ${server.apiKey}`, correlationId: 'c' }] }
    server.fault = () => ({ status: 500, body: JSON.stringify(echo) })
    const file = fileOf(articles(3))
    const { stdout, stderr } = await file.run()
    expect(stderr).toContain('bad [redacted] and [redacted]')
    const all = stdout + stderr + file.journal + JSON.stringify(file.rejects)
    expect(all).not.toMatch(/content-(api-key|access-token)/)
  })
})

describe('a line that does not arrive', () => {
  it('is in the rejects with its reasons, and arrives when it was mended', async () => {
    const good = { fields: { title: 'good' } }
    const bad = [
      '{"fields":',
      '[1]',
      '{"fields":{"title":"a"},"publishAt":"x"}',
      '{"createdAt":"2024-02-30T00:00:00Z"}',
    ]
    const file = fileOf([good, ...bad, { fields: { titel: 'x' } }, { fields: { title: 'also good' } }])
    const { code, stdout } = await file.run()
    expect(code).toBe(1)
    expect(stdout).toContain('2 of 7 lines have arrived\n')
    expect(stdout).toContain(`5 have not, see ${file.path}.rejects.ndjson: 4 not valid, 1 refused by the service\n`)
    expect(stdout).toContain('to go on, give the same command again')
    expect(file.rejects).toEqual([
      { line: 2, reasons: [expect.stringContaining('the line is not JSON: ')], text: bad[0] },
      { line: 3, reasons: ['expected an object, got an array'], text: bad[1] },
      {
        line: 4,
        reasons: ['publishAt: expected fields, createdAt, updatedAt, publishedAt; did you mean publishedAt?'],
        text: bad[2],
      },
      {
        line: 5,
        reasons: [
          'fields: expected an object, got nothing',
          'createdAt: expected a time in UTC such as 2024-05-01T12:00:00Z, got "2024-02-30T00:00:00Z"',
        ],
        text: bad[3],
      },
      {
        line: 6,
        reasons: ['titel: titel is no field of the type', 'title: title is required'],
        code: 'validation-failed',
        status: 400,
        text: '{"fields":{"titel":"x"}}',
      },
    ])
    expect(server.requests).toHaveLength(3)

    file.write([good, ...articles(4), { fields: { title: 'x' } }, { fields: { title: 'also good' } }])
    expect(await file.run()).toMatchObject({ code: 0 })
    expect(sorted(titles())).toEqual(sorted(['good', 'also good', 'x', ...titlesOf(4)]))
    expect(file.rejects).toBeUndefined()
  })

  it.each<[string, ContentFault, object]>([
    ['its answer was lost', 'reset-after', { code: 'no-answer' }],
    [
      'the service failed',
      { status: 500, body: '{"success":false,"errors":[{"correlationId":"c-9","message":"oops"}]}' },
      { code: 'server-error', status: 500, correlationId: 'c-9' },
    ],
  ])('because %s is named, and sent again by the next run with the same key', async (_, fault, expected) => {
    server.fault = (request) => (titleOf(request) === 'title 2' ? fault : undefined)
    const file = fileOf(articles(4))
    const first = await file.run()
    expect(first).toMatchObject({ code: 1, stdout: expect.stringContaining('1 may have arrived') })
    expect(first.stderr).toMatch(/^line 2: may have arrived; the next run sends it again: /)
    expect(file.rejects).toMatchObject([{ line: 2, mayHaveArrived: true, ...expected }])
    server.fault = () => undefined
    const second = await file.run()
    expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining('4 of 4') })
    expect(second.stderr).toMatch(/^line 2: sent again, for its answer was lost before/)
    const keys = server.requests.filter((request) => titleOf(request) === 'title 2').map(keyOf)
    expect(keys).toHaveLength(2)
    expect(new Set(keys).size).toBe(1)
    expect(sorted(titles())).toEqual(titlesOf(4))
    expect((await file.run()).stderr).toBe('')
  })

  it('but of which the status says that it has, has arrived', async () => {
    server.fault = ({ number }) => (number === 0 ? 'half-answer' : undefined)
    const file = fileOf(articles(2))
    const { code, stderr } = await file.run('--concurrency', '1')
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'line 1: has arrived, but its id could not be read\n' })
    expect(await file.run()).toMatchObject({ code: 0 })
    expect(server.requests).toHaveLength(2)
  })

  it('because the service asks for fewer requests is sent again, after the time that it asks for', async () => {
    server.fault = ({ number }) => (number < 3 ? { status: 429, headers: { 'retry-after': '0' } } : undefined)
    expect(await fileOf(articles(3)).run()).toMatchObject({ code: 0, stderr: '' })
    expect(sorted(titles())).toEqual(titlesOf(3))
    expect(server.requests).toHaveLength(6)
    expect(new Set(server.requests.map(keyOf)).size).toBe(3)
  })
})

describe('a migration stops', () => {
  it.each<[string, number, RegExp]>([
    ['the token is wrong', 401, /access token \(SLUICE_ACCESS_TOKEN\) is missing or wrong/],
    ['the project or the type is unknown', 404, /not found/],
    ['the plan does not allow it', 412, /plan or payment/],
    ['the service is elsewhere', 307, /redirects/],
  ])('when %s (%i), and goes on when that is mended', async (_, status, words) => {
    server.fault = () => ({ status })
    const file = fileOf(articles(100))
    const first = await file.run('--concurrency', '4')
    expect(first).toMatchObject({ code: 1 })
    expect(first.stdout).toMatch(words)
    expect(first.stdout).toContain('to go on, give the same command again')
    expect(server.requests.length).toBeLessThanOrEqual(4)
    expect(file.rejects).toBeUndefined()
    server.fault = () => undefined
    expect(await file.run()).toMatchObject({ code: 0, stderr: '' })
    expect(sorted(titles())).toEqual(sorted(titlesOf(100)))
  })

  it('when the service cannot be reached, and goes on when it is there again', async () => {
    const file = new MigratedFile({ ...server.variables, SLUICE_RETRY_BASE_MS: '1' }, articles(20))
    const { port } = new URL(server.url)
    await server.close()
    const first = await file.run()
    expect(first).toMatchObject({ code: 1, stdout: expect.stringContaining('ECONNREFUSED') })
    expect(first.stdout).toContain('0 lines have arrived')
    server = await ContentServer.start({ port: Number(port) })
    expect(await file.run()).toMatchObject({ code: 0, stderr: '' })
    expect(sorted(titles())).toEqual(sorted(titlesOf(20)))
  })

  it('when it fails time after time', async () => {
    server.fault = ({ number }) => (number < 5 ? undefined : { status: 503 })
    const file = fileOf(articles(100))
    const { code, stdout } = await file.run('--concurrency', '1')
    expect(code).toBe(1)
    expect(stdout).toContain('20 failures in a row')
    expect(server.requests).toHaveLength(25)
    expect(file.rejects).toHaveLength(20)
  })

  it('not when the lines are at fault', async () => {
    const file = fileOf(Array.from({ length: 50 }, () => ({ fields: {} })))
    expect((await file.run()).stdout).toContain('0 of 50 lines have arrived')
    expect(file.rejects).toHaveLength(50)
  })
})

/** Resolves when so many requests have come; those from then on are not answered before `release`. */
function holdAfter(count: number) {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const reached = new Promise<void>((resolve) => {
    server.fault = ({ number }) => {
      if (number < count) return undefined
      resolve()
      return released
    }
  })
  return { reached, release }
}

/** Calls back when the program says that it has heard of a signal. */
function onceHeard({ stderr }: Running['process'], callBack: () => void) {
  let said = ''
  stderr.on('data', (text) => {
    const before = said
    said += text
    if (said.includes('SIGINT: waits') && !before.includes('SIGINT: waits')) callBack()
  })
}

describe('a migration that is interrupted', () => {
  it.each([0, 1, 37, 150])('by SIGKILL after %i answers makes no entry twice and leaves none out', async (answers) => {
    const file = fileOf(articles(200))
    const { reached, release } = holdAfter(answers)
    const killed = file.start()
    await reached
    killed.process.kill('SIGKILL')
    expect(await killed.ended).toMatchObject({ signal: 'SIGKILL' })
    release()
    server.fault = () => undefined
    const { code, stdout } = await file.run()
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('200 of 200 lines have arrived') })
    expect(sorted(titles())).toEqual(sorted(titlesOf(200)))
    expect(server.requests.length).toBeLessThanOrEqual(208)
  })

  it('by SIGKILL names the lines that a service which heeds no keys may have twice, and has no other twice', async () => {
    await server.close()
    server = await ContentServer.start({ heedsKeys: false })
    const file = fileOf(articles(300))
    let said = ''
    for (const answers of [50, 120, 200]) {
      const { reached, release } = holdAfter(answers)
      const killed = file.start()
      await reached
      killed.process.kill('SIGKILL')
      said += (await killed.ended).stderr
      release()
    }
    server.fault = () => undefined
    const { code, stderr } = await file.run()
    expect(code).toBe(0)
    said += stderr
    const times = new Map<unknown, number>()
    for (const title of titles()) times.set(title, (times.get(title) ?? 0) + 1)
    expect(times.size).toBe(300)
    const twice = [...times].filter(([, count]) => count > 1).map(([title]) => String(title).slice('title '.length))
    const named = [...said.matchAll(/^line (\d+): sent again/gm)].map(([, line]) => line)
    expect(twice.length).toBeGreaterThan(0)
    expect(named).toEqual(expect.arrayContaining(twice))
    expect(named.length).toBeLessThanOrEqual(3 * 8)
  })

  it('by SIGINT waits for what is under way, takes nothing more, and says how to go on', async () => {
    const file = fileOf(articles(100))
    const { reached, release } = holdAfter(10)
    const { process: child, ended } = file.start(['--concurrency', '4'])
    onceHeard(child, release)
    await reached
    child.kill('SIGINT')
    const { code, signal, stdout, stderr } = await ended
    expect({ code, signal }).toEqual({ code: 1, signal: null })
    expect(stderr).toContain('SIGINT: waits for the entries under way')
    expect(stdout).toContain('stopped: interrupted by SIGINT')
    expect(stdout).toContain('to go on, give the same command again')
    expect(server.requests.length).toBeLessThanOrEqual(14)
    const second = await file.run()
    expect(second).toMatchObject({ code: 0, stderr: '' })
    expect(server.requests).toHaveLength(100)
  })

  it('by SIGINT twice ends at once, of the signal', async () => {
    const file = fileOf(articles(100))
    const { reached, release } = holdAfter(10)
    const { process: child, ended } = file.start()
    onceHeard(child, () => child.kill('SIGINT'))
    await reached
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ code: null, signal: 'SIGINT' })
    release()
    server.fault = () => undefined
    expect(await file.run()).toMatchObject({ code: 0 })
    expect(sorted(titles())).toEqual(sorted(titlesOf(100)))
  })

  it('while it waits for a service that asks for fewer requests ends at once', async () => {
    let asked = () => {}
    const waits = new Promise<void>((resolve) => {
      asked = resolve
    })
    server.fault = () => {
      asked()
      return { status: 429, headers: { 'retry-after': '3600' } }
    }
    const file = fileOf(articles(5))
    const { process: child, ended } = file.start(['--concurrency', '1'])
    await waits
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 1, stdout: expect.stringContaining('interrupted by SIGTERM') })
    expect(file.rejects).toBeUndefined()
  })
})

describe('a migration that goes on', () => {
  it('is refused when lines that have arrived are other ones now', async () => {
    const file = fileOf([...articles(3), '{"fields":{}}'])
    expect(await file.run()).toMatchObject({ code: 1 })
    file.write([{ fields: { title: 'new' } }, ...articles(3)])
    const { code, stderr } = await file.run()
    expect(code).toBe(1)
    expect(stderr).toContain('has changed somewhere in its lines 1 to 4096')
    file.write(articles(2))
    expect((await file.run()).stderr).toContain('has changed')
    expect(server.requests).toHaveLength(4)
  })

  it('is refused when it is to another destination', async () => {
    const file = fileOf(articles(2))
    await file.run()
    expect(await file.run('--type=other')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--type: expected once'),
    })
    writeFileSync(file.journalPath, file.journal.replace('"type":"article"', '"type":"page"'))
    const { code, stderr } = await file.run()
    expect(code).toBe(2)
    expect(stderr).toContain('is the journal of a migration to the type page, not article')
    expect(server.requests).toHaveLength(2)
  })

  it('is refused when its journal is no journal, or damaged in the middle', async () => {
    const file = fileOf(articles(2))
    writeFileSync(file.journalPath, '{"some":"thing"}\n')
    expect(await file.run()).toMatchObject({ code: 2, stderr: expect.stringContaining('is not a journal') })
    writeFileSync(file.journalPath, '')
    await file.run()
    const lines = file.journal.split('\n')
    writeFileSync(file.journalPath, [lines[0], '\0\0\0', ...lines.slice(2)].join('\n'))
    expect(await file.run()).toMatchObject({ code: 2, stderr: expect.stringContaining('damaged at its line 2') })
    expect(server.requests).toHaveLength(2)
  })

  it('at whatever byte its journal was cut makes no entry twice, and names what it sends again', async () => {
    const file = fileOf(articles(3))
    await file.run('--concurrency', '1')
    const whole = readFileSync(file.journalPath)
    const head = whole.indexOf('\n') + 1
    for (let length = head; length < whole.length; length += 41) {
      writeFileSync(file.journalPath, whole.subarray(0, length))
      const before = server.requests.length
      const { code, stderr } = await file.run()
      expect(code).toBe(0)
      // A cut loses answers, or lines that the service has seen all the same: their keys are those of before.
      expect(titles()).toEqual(titlesOf(3))
      const left = whole.subarray(0, whole.lastIndexOf('\n', length - 1)).toString()
      const unanswered = left.split('"sent"').length - left.split('"digest"').length
      expect(stderr === '' ? 0 : stderr.trimEnd().split('\n').length).toBe(unanswered)
      expect(server.requests.length).toBeGreaterThan(before)
    }
    // What was half written is gone, and does not spoil what came after it.
    writeFileSync(file.journalPath, whole.subarray(0, head + 20))
    await file.run()
    expect(await file.run()).toMatchObject({
      code: 0,
      stdout: '3 of 3 lines have arrived (3 of them in earlier runs)\n',
    })
  })

  it('after the end of the machine takes every line for sent that was announced and has not arrived', async () => {
    const file = fileOf(articles(3000))
    await file.run()
    // What was not forced to the disk is lost: here all from the moment when line 1030 was sent.
    const lines = file.journal.split('\n')
    const kept = lines.slice(
      0,
      lines.findIndex((line) => line.includes('"line":1030,')),
    )
    const another = kept.map((line) => line.replace(/"boot":"[^"]*"/, '"boot":"another"'))
    writeFileSync(file.journalPath, `${another.join('\n')}\n`)
    const { code, stderr } = await file.run()
    expect(code).toBe(0)
    const to = Math.max(...another.flatMap((line) => Number(/"to":(\d+)/.exec(line)?.[1] ?? 0)))
    const named = [...stderr.matchAll(/^line (\d+): sent again/gm)].map(([, line]) => Number(line))
    expect(to).toBeGreaterThan(1030)
    expect(named.length).toBeGreaterThan(to - 1030 - 8)
    expect(Math.max(...named)).toBe(to)
    expect(sorted(titles())).toEqual(sorted(titlesOf(3000)))
  })

  it('is refused while another process is at it, and not after that one was killed', async () => {
    const file = fileOf(articles(20))
    const { reached, release } = holdAfter(5)
    const first = file.start()
    await reached
    const { code, stderr } = await file.run()
    expect(code).toBe(1)
    expect(stderr).toContain(`process ${first.process.pid} migrates ${file.path}`)
    first.process.kill('SIGKILL')
    await first.ended
    release()
    expect(await file.run()).toMatchObject({ code: 0 })
    expect(sorted(titles())).toEqual(sorted(titlesOf(20)))
  })
})

describe('sluice migrate --dry-run', () => {
  it('sends nothing, and ends with 0 when all lines are valid', async () => {
    const file = fileOf(articles(3))
    expect(await file.run('--dry-run')).toMatchObject({
      code: 0,
      stdout: '3 of 3 lines are valid; nothing was sent\n',
      stderr: '',
    })
    expect(server.requests.map(({ method }) => method)).toEqual(['GET'])
    expect(existsSync(file.journalPath)).toBe(false)
    expect(file.rejects).toBeUndefined()
  })

  it('tells what the schema has against a line, as the service would', async () => {
    const lines = [
      { fields: { title: 'ok', body: null } },
      { fields: { titel: 'x' } },
      { fields: { title: 7, body: ['x'] } },
      { fields: { title: '😀'.repeat(41) } },
      { fields: { title: '😀'.repeat(40) } },
      'no JSON',
    ]
    const file = fileOf(lines)
    const { code, stdout } = await file.run('--dry-run')
    expect(code).toBe(1)
    expect(stdout).toBe(`2 of 6 lines are valid; nothing was sent\n4 are not, see ${file.path}.rejects.ndjson\n`)
    expect(file.rejects).toMatchObject([
      { line: 2, reasons: ['titel: is no field of the content type', 'title: is required'] },
      {
        line: 3,
        reasons: ['title: expected a text, got a value of type number', 'body: expected a text, got an array'],
      },
      { line: 4, reasons: ['title: expected at most 40 characters, got 41'] },
      { line: 6, reasons: [expect.stringContaining('not JSON')], text: 'no JSON' },
    ])
    expect(server.entries).toEqual([])
  })

  it('finds the content type on whatever page it is listed, by its id, too', async () => {
    await server.close()
    const others = Array.from({ length: 30 }, (_, index) => articleType({ id: `o_${index}`, key: `other-${index}` }))
    server = await ContentServer.start({ types: [...others, articleType({ id: 'article', key: 'post' })] })
    expect(await fileOf(articles(1)).run('--dry-run')).toMatchObject({ code: 0 })
  })

  it.each([
    [[articleType({ key: 'articles' })], 'there is no content type article in demo; did you mean articles?'],
    [[articleType({ isActive: false })], 'content type article of demo is archived'],
  ])('ends with 1 where no line could arrive', async (types, words) => {
    await server.close()
    server = await ContentServer.start({ types })
    const { code, stderr } = await fileOf(articles(1)).run('--dry-run')
    expect(code).toBe(1)
    expect(stderr).toContain(words)
  })

  it('ends with 1 where the content types cannot be listed', async () => {
    server.fault = () => ({ status: 401 })
    const { code, stderr } = await fileOf(articles(1)).run('--dry-run')
    expect(code).toBe(1)
    expect(stderr).toContain('list content types of demo: the API key (SLUICE_API_KEY) is missing or wrong (401)')
  })
})

describe('a file', () => {
  it('may have a byte order mark, lines that end as on Windows, and no end of the last one', async () => {
    const file = fileOf([])
    appendFileSync(file.path, '\ufeff{"fields":{"title":"a"}}\r\n\r\n{"fields":{"title":"b"}}')
    expect(await file.run('--concurrency', '1')).toMatchObject({ code: 0, stdout: '2 of 2 lines have arrived\n' })
    expect(titles()).toEqual(['a', 'b'])
  })
})
