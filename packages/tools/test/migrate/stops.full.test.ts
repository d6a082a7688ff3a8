import { execFileSync } from 'node:child_process'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ContentServer } from '../../../../test/support/content-server.js'
import { full } from '../../../../test/support/full.js'
import { articles, MigratedFile, sorted, titlesOf } from '../support/migrated-file.js'

let server: ContentServer
beforeEach(async () => {
  server = await ContentServer.start()
})
afterEach(() => server.close())

const fileOf = (lines: readonly (string | object)[]) => new MigratedFile(server.variables, lines)

describe('a migration stops', () => {
  it.runIf(full)(
    'before it begins, when its journal is a named pipe, and does not wait for a named pipe as its lock',
    async () => {
      const file = fileOf(articles(3))
      execFileSync('mkfifo', [file.journalPath, `${file.journalPath}.lock`])
      const { code, stderr } = await file.run()
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringMatching(/\.journal is no file, .*move it away\n$/),
      })
      expect(server.requests).toEqual([])
    },
  )

  it.each<[string, number, RegExp]>([
    ['the token is wrong', 401, /access token \(SLUICE_ACCESS_TOKEN\) is missing or wrong/],
    ['the project or the type is unknown', 404, /not found/],
    ['the plan does not allow it', 412, /plan or payment/],
    ['the service is elsewhere', 307, /redirects/],
  ])('when %s (%i), and goes on when that is corrected', async (_, status, words) => {
    server.fault = () => ({ status })
    const file = fileOf(articles(100))
    const first = await file.run('--concurrency', '4')
    expect(first).toMatchObject({ code: 1 })
    expect(first.stderr).toMatch(/^sluice-tools migrate: stopped: line \d+: /)
    expect(first.stderr).toMatch(words)
    expect(first.stdout).toContain('to go on, give the same command again')
    expect(server.requests.length).toBeLessThanOrEqual(4)
    expect(file.rejects).toBeUndefined()
    server.fault = () => undefined
    expect(await file.run()).toMatchObject({ code: 0, stderr: '' })
    expect(sorted(server.titles)).toEqual(sorted(titlesOf(100)))
  })

  it.runIf(full)('when the service cannot be reached, and goes on when it is back', async () => {
    const file = new MigratedFile({ ...server.variables, SLUICE_RETRY_BASE_MS: '1' }, articles(20))
    const { port } = new URL(server.url)
    await server.close()
    const first = await file.run()
    expect(first).toMatchObject({ code: 1, stderr: expect.stringContaining('ECONNREFUSED') })
    expect(first.stdout).toContain('0 lines have arrived')
    server = await ContentServer.start({ port: Number(port) })
    expect(await file.run()).toMatchObject({ code: 0, stderr: '' })
    expect(sorted(server.titles)).toEqual(sorted(titlesOf(20)))
  })

  it('after a series of failures', async () => {
    server.fault = ({ number }) => (number < 5 ? undefined : { status: 503 })
    const file = fileOf(articles(100))
    const { code, stderr } = await file.run('--concurrency', '1')
    expect(code).toBe(1)
    expect(stderr).toContain('sluice-tools migrate: stopped: 20 failures in a row')
    expect(server.requests).toHaveLength(25)
    expect(file.rejects).toHaveLength(20)
  })

  it.runIf(full)('when something else than the service answers 200', async () => {
    server.fault = () => ({ status: 200, body: '<html>' })
    const file = fileOf(articles(100))
    const { code, stdout, stderr } = await file.run('--concurrency', '1')
    expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining('0 lines have arrived') })
    expect(stderr).toContain('not the service: a success (200) with neither JSON nor an empty body')
    expect(server.requests).toHaveLength(1)
  })

  it.runIf(full).each([400, 413])('not when the service refuses every line (%i)', async (status) => {
    server.fault = () => ({ status })
    const file = fileOf(articles(50))
    expect((await file.run()).stdout).toContain('50 have not')
    expect(file.rejects).toHaveLength(50)
  })

  it.runIf(full)('not when no line is valid', async () => {
    const file = fileOf(Array.from({ length: 50 }, () => ({ fields: {} })))
    expect((await file.run()).stdout).toContain('0 of 50 lines have arrived')
    expect(file.rejects).toHaveLength(50)
  })
})
