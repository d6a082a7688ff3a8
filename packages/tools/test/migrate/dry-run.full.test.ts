import { existsSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { articleType, ContentServer } from '../../../../test/support/content-server.js'
import { full } from '../../../../test/support/full.js'
import { articles, MigratedFile } from '../support/migrated-file.js'

let server: ContentServer
beforeEach(async () => {
  server = await ContentServer.start()
})
afterEach(() => server.close())

const fileOf = (lines: readonly (string | object)[]) => new MigratedFile(server.variables, lines)

describe('sluice-tools migrate --dry-run', () => {
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

  it('reports the violations of the schema, as the service would', async () => {
    const lines = [
      { fields: { title: 'text', body: null } },
      { fields: { titel: 'x' } },
      { fields: { title: 7, body: ['x'] } },
      { fields: { title: '😀'.repeat(41) } },
      { fields: { title: '😀'.repeat(40) } },
      'no JSON',
    ]
    const file = fileOf(lines)
    const { code, stdout } = await file.run('--dry-run')
    expect(code).toBe(1)
    const [summary, where, ...reasons] = stdout.trimEnd().split('\n')
    expect(summary).toBe('1 of 6 lines are valid; nothing was sent')
    expect(where).toBe(`5 are not, see ${file.path}.rejects.ndjson`)
    expect(reasons).toEqual([
      '  line 1: body: expected a text, got null',
      '  line 2: titel: is no field of the content type; title: is required',
      '  line 3: title: expected a text, got a number; body: expected a text, got an array',
      '  line 4: title: expected at most 40 characters, got 41',
      expect.stringMatching(/^ {2}line 6: the line is not JSON/),
    ])
    expect(file.rejects).toMatchObject([
      { line: 1, reasons: ['body: expected a text, got null'] },
      { line: 2, reasons: ['titel: is no field of the content type', 'title: is required'] },
      {
        line: 3,
        reasons: ['title: expected a text, got a number', 'body: expected a text, got an array'],
      },
      { line: 4, reasons: ['title: expected at most 40 characters, got 41'] },
      { line: 6, reasons: [expect.stringContaining('not JSON')], text: 'no JSON' },
    ])
    expect(server.entries).toEqual([])
  })

  it.runIf(full)('leaves the rejects of a running migration alone', async () => {
    const file = fileOf(['{"broken', ...articles(20)])
    const { reached, release } = server.holdAfter(5)
    const first = file.start()
    await reached
    const { code, stderr } = await file.run('--dry-run')
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(`process ${first.process.pid} migrates ${file.path}`),
    })
    release()
    expect(await first.ended).toMatchObject({ code: 1 })
    expect(file.rejects).toMatchObject([{ line: 1 }])
  })

  it.runIf(full)('finds the content type on any page of the list, also by its id', async () => {
    await server.close()
    const others = Array.from({ length: 30 }, (_, index) => articleType({ id: `o_${index}`, key: `other-${index}` }))
    server = await ContentServer.start({ types: [...others, articleType({ id: 'article', key: 'post' })] })
    expect(await fileOf(articles(1)).run('--dry-run')).toMatchObject({ code: 0 })
  })

  it.runIf(full).each([
    [[articleType({ key: 'articles' })], 'there is no content type article in demo; did you mean articles?'],
    [[articleType({ isActive: false })], 'content type article of demo is archived'],
  ])('ends with 1 where no line could arrive', async (types, words) => {
    await server.close()
    server = await ContentServer.start({ types })
    const { code, stderr } = await fileOf(articles(1)).run('--dry-run')
    expect(code).toBe(1)
    expect(stderr).toContain(words)
  })

  it.runIf(full)('ends with 1 when the content types cannot be listed', async () => {
    server.fault = () => ({ status: 401 })
    const { code, stderr } = await fileOf(articles(1)).run('--dry-run')
    expect(code).toBe(1)
    expect(stderr).toContain('list content types of demo: the API key (SLUICE_API_KEY) is missing or wrong (401)')
  })
})
