import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ContentFault, type ContentRequest, ContentServer } from '../../../../test/support/content-server.js'
import { full } from '../../../../test/support/full.js'
import { articles, MigratedFile, sorted, titleOf, titlesOf } from '../support/migrated-file.js'

let server: ContentServer
beforeEach(async () => {
  server = await ContentServer.start()
})
afterEach(() => server.close())

const fileOf = (lines: readonly (string | object)[]) => new MigratedFile(server.variables, lines)

const keyOf = ({ headers }: ContentRequest) => headers['idempotency-key']

describe('a line that does not arrive', () => {
  it.runIf(full)(
    'is one of the five whose reasons are printed, cut where they are long, or of those that are counted',
    async () => {
      const file = fileOf([{ fields: { [`a${'b'.repeat(300)}`]: 1 } }, ...Array.from({ length: 6 }, () => '[1]')])
      const { stdout } = await file.run('--concurrency', '1')
      const printed = stdout.split('\n').filter((line) => line.startsWith('  '))
      expect(printed).toHaveLength(6)
      expect(printed[0]).toMatch(/^ {2}line 1: ab{150,}…$/)
      expect(printed.slice(1, 5)).toEqual(
        [2, 3, 4, 5].map((line) => `  line ${line}: expected an object, got an array`),
      )
      expect(printed[5]).toBe('  and 2 more')
    },
  )

  it('is in the rejects with its reasons, and arrives when it is corrected', async () => {
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
    expect(stdout).toMatch(
      /\n {2}line 2: the line is not JSON: .*\n {2}line 3: expected an object, got an array\n {2}line 4: /,
    )
    expect(stdout).toContain('\n  line 6: titel: titel is no field of the type; title: title is required\nto go on')
    expect(stdout).toContain('to go on, correct them in FILE and give the same command again')
    expect(file.rejects).toEqual([
      { line: 2, reasons: [expect.stringContaining('the line is not JSON: ')], text: bad[0] },
      { line: 3, reasons: ['expected an object, got an array'], text: bad[1] },
      {
        line: 4,
        reasons: [
          'publishAt: expected fields, contentTypeKey, createdAt, updatedAt, publishedAt; did you mean publishedAt?',
        ],
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
    expect(sorted(server.titles)).toEqual(sorted(['good', 'also good', 'x', ...titlesOf(4)]))
    expect(file.rejects).toBeUndefined()
  })

  it.runIf(full).each<[string, ContentFault, object]>([
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
    expect(second.stderr).toMatch(/^line 2: sent again, because its answer was lost/)
    const keys = server.requests.filter((request) => titleOf(request) === 'title 2').map(keyOf)
    expect(keys).toHaveLength(2)
    expect(new Set(keys).size).toBe(1)
    expect(sorted(server.titles)).toEqual(titlesOf(4))
    expect((await file.run()).stderr).toBe('')
  })

  it.runIf(full)('is named again when the run between could not send it', async () => {
    server.fault = (request) => (titleOf(request) === 'title 2' ? 'reset-after' : undefined)
    const file = fileOf(articles(4))
    await file.run('--concurrency', '1')
    server.fault = () => ({ status: 401 })
    expect(await file.run()).toMatchObject({ code: 1, stderr: expect.stringContaining('line 2: migrate entry') })
    server.fault = () => undefined
    expect(await file.run()).toMatchObject({ code: 0, stderr: expect.stringMatching(/^line 2: sent again/) })
  })

  it.runIf(full)('has arrived when the status says so, even without a readable answer', async () => {
    server.fault = ({ number }) => (number === 0 ? 'half-answer' : undefined)
    const file = fileOf(articles(2))
    const { code, stderr } = await file.run('--concurrency', '1')
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'line 1: has arrived, but its id could not be read\n' })
    expect(await file.run()).toMatchObject({ code: 0 })
    expect(server.requests).toHaveLength(2)
  })

  it.runIf(full)(
    'is sent again after the time that the service asks for, when the service asks for fewer requests',
    async () => {
      server.fault = ({ number }) => (number < 3 ? { status: 429, headers: { 'retry-after': '0' } } : undefined)
      expect(await fileOf(articles(3)).run()).toMatchObject({ code: 0, stderr: '' })
      expect(sorted(server.titles)).toEqual(titlesOf(3))
      expect(server.requests).toHaveLength(6)
      expect(new Set(server.requests.map(keyOf)).size).toBe(3)
    },
  )
})
