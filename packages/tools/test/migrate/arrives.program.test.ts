import { once } from 'node:events'
import { appendFileSync, existsSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ContentServer } from '../../../../test/support/content-server.js'
import { full } from '../../../../test/support/full.js'
import { articles, MigratedFile, titlesOf } from '../support/migrated-file.js'

let server: ContentServer
beforeEach(async () => {
  server = await ContentServer.start()
})
afterEach(() => server.close())

const fileOf = (lines: readonly (string | object)[]) => new MigratedFile(server.variables, lines)

describe('sluice-tools migrate', () => {
  it('creates an entry for every line, with its times, and ends with 0', async () => {
    const times = {
      createdAt: '2020-01-01T00:00:00Z',
      updatedAt: '2021-01-01T00:00:00.5Z',
      publishedAt: '2022-01-01T00:00:00+00:00',
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

  it('sends nothing again when all lines have arrived', async () => {
    const file = fileOf(articles(30))
    await file.run()
    expect(await file.run()).toMatchObject({
      code: 0,
      stdout: '30 of 30 lines have arrived (30 of them in earlier runs)\n',
    })
    expect(server.requests).toHaveLength(30)
    expect(file.journal).toContain('"id":"entry_30"')
  })

  it.runIf(full)('sends the lines that were added to the file since', async () => {
    const file = fileOf(articles(3))
    await file.run()
    file.write(articles(5))
    expect(await file.run()).toMatchObject({ code: 0 })
    expect(server.titles).toEqual(titlesOf(5))
  })

  it.runIf(full)('ends with 0 for an empty file', async () => {
    expect(await fileOf([]).run()).toMatchObject({ code: 0, stdout: '0 of 0 lines have arrived\n' })
  })

  it.runIf(full).each([1, 3])('has %i entries under way at the same time', async (concurrency) => {
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
        // The last lines come with fewer requests at once.
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

  it.runIf(full)('sends a line as it is, so that no number loses a digit', async () => {
    const line = '{"fields": {"title": "a", "body": 12345678901234567890.10}}'
    await fileOf([line]).run()
    expect(server.requests.map(({ body }) => body)).toEqual([line])
  })

  it('prints neither key nor token, even when the service repeats them', async () => {
    const echo = { errors: [{ message: `bad ${server.accessToken} and ${server.apiKey}`, correlationId: 'c' }] }
    server.fault = () => ({ status: 500, body: JSON.stringify(echo) })
    const file = fileOf(articles(3))
    const { stdout, stderr } = await file.run()
    expect(stderr).toContain('bad [redacted] and [redacted]')
    const all = stdout + stderr + file.journal + JSON.stringify(file.rejects)
    expect(all).not.toMatch(/content-(api-key|access-token)/)
  })
})

describe('a file', () => {
  it.runIf(full)('without any line is done', async () => {
    const file = fileOf(['', '  ', '\r'])
    expect(await file.run()).toMatchObject({ code: 0, stdout: '0 of 0 lines have arrived\n', stderr: '' })
    expect(server.requests).toEqual([])
  })

  it.runIf(full)('may have a byte order mark, Windows line ends, and an unfinished last line', async () => {
    const file = fileOf([])
    appendFileSync(file.path, '\ufeff{"fields":{"title":"a"}}\r\n\r\n{"fields":{"title":"b"}}')
    expect(await file.run('--concurrency', '1')).toMatchObject({ code: 0, stdout: '2 of 2 lines have arrived\n' })
    expect(server.titles).toEqual(['a', 'b'])
  })
})

describe('its output', () => {
  it.runIf(full)('needs no reader: the work goes on', async () => {
    const file = fileOf(articles(30))
    const { process: child, ended } = file.start()
    ended.catch(() => {})
    child.stdout.destroy()
    child.stderr.destroy()
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(server.titles).toHaveLength(30)
    expect(existsSync(`${file.journalPath}.lock`)).toBe(false)
  })
})
