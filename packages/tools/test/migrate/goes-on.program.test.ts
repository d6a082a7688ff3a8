import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
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

describe('a migration that goes on', () => {
  it('is refused when lines that have arrived were changed', async () => {
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

  it.runIf(full)('is refused when it is to another destination', async () => {
    const file = fileOf(articles(2))
    await file.run()
    file.type = 'page'
    const { code, stderr } = await file.run()
    expect(code).toBe(2)
    expect(stderr).toContain('is the journal of a migration to the type article, not page')
    expect(server.requests).toHaveLength(2)
  })

  it.runIf(full)('may change its destination while no line has arrived at the first one', async () => {
    const file = fileOf(articles(5))
    file.type = 'artikel'
    expect(await file.run()).toMatchObject({ code: 1, stderr: expect.stringContaining('not found (404)') })
    file.type = 'article'
    expect(await file.run()).toMatchObject({ code: 0, stderr: '', stdout: '5 of 5 lines have arrived\n' })
    file.type = 'artikel'
    expect(await file.run()).toMatchObject({ code: 2 })
  })

  it.runIf(full)('goes on with a journal of an earlier version', async () => {
    const file = fileOf(articles(3))
    const digest = createHash('sha1')
      .update(JSON.stringify(articles(1)[0]))
      .digest('hex')
      .slice(0, 12)
    const notes = [
      { journal: 'sluice migrate 1', id: 'an-id', url: server.url, project: 'demo', type: 'article' },
      { from: 1, to: 1025, boot: 'a boot' },
      { line: 1, sent: true },
      { line: 2, sent: true },
      { line: 1, id: 'entry-1', digest },
      { line: 2, not: 'plan-required' },
    ]
    // After a restart of the machine, every announced line counts as sent.
    writeFileSync(file.journalPath, notes.map((note) => `${JSON.stringify(note)}\n`).join(''))
    const { code, stdout, stderr } = await file.run()
    expect({ code, stdout }).toEqual({ code: 0, stdout: '3 of 3 lines have arrived (1 of them in earlier runs)\n' })
    expect([...stderr.matchAll(/^line (\d+): sent again/gm)].map(([, line]) => line)).toEqual(['2', '3'])
    expect(sorted(server.titles)).toEqual(['title 2', 'title 3'])
    expect(
      server.requests.map(({ headers }) => headers['idempotency-key']).every((key) => /^an-id-[23]-/.test(`${key}`)),
    ).toBe(true)
  })

  it.runIf(full)('is refused when its journal names a line that no file has', async () => {
    const file = fileOf(articles(2))
    await file.run()
    writeFileSync(file.journalPath, `${file.journal}{"line":1e15,"sent":true}\n`)
    expect(await file.run()).toMatchObject({ code: 2, stderr: expect.stringContaining('is damaged at its line') })
  })

  it.runIf(full)('keeps its destination when an answer was lost there', async () => {
    const file = fileOf(articles(1))
    server.fault = () => 'reset-after'
    expect(await file.run()).toMatchObject({ code: 1 })
    file.type = 'page'
    expect(await file.run()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('to the type article, not page'),
    })
  })

  it.runIf(full)('is refused when its journal is another file, or damaged in the middle', async () => {
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

  it.runIf(full)(
    'creates no entry twice when its journal was cut at any byte, and names the lines that it sends again',
    async () => {
      const file = fileOf(articles(3))
      await file.run('--concurrency', '1')
      const whole = readFileSync(file.journalPath)
      const head = whole.indexOf('\n') + 1
      for (let length = head; length < whole.length; length += full ? 41 : 401) {
        writeFileSync(file.journalPath, whole.subarray(0, length))
        const before = server.requests.length
        const { code, stderr } = await file.run()
        expect(code).toBe(0)
        // A cut loses answers, or lines that the service has seen. Their keys stay the same.
        expect(server.titles).toEqual(titlesOf(3))
        const left = whole.subarray(0, whole.lastIndexOf('\n', length - 1)).toString()
        const unanswered = left.split('"sent"').length - left.split('"digest"').length
        expect(stderr === '' ? 0 : stderr.trimEnd().split('\n').length).toBe(unanswered)
        expect(server.requests.length).toBeGreaterThan(before)
      }
      // A half-written note is removed, and the notes after it are intact.
      writeFileSync(file.journalPath, whole.subarray(0, head + 20))
      await file.run()
      expect(await file.run()).toMatchObject({
        code: 0,
        stdout: '3 of 3 lines have arrived (3 of them in earlier runs)\n',
      })
    },
  )

  it.runIf(full)('counts every announced line that has not arrived as sent, after a crash of the machine', async () => {
    const file = fileOf(articles(3000))
    await file.run()
    // Everything that is not synced is lost: here all notes from the sending of line 1030 on.
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
    expect(sorted(server.titles)).toEqual(sorted(titlesOf(3000)))
  })

  it.runIf(full)(
    'is refused while another process migrates the file, and not after that process was killed',
    async () => {
      const file = fileOf(articles(20))
      const { reached, release } = server.holdAfter(5)
      const first = file.start()
      await reached
      const { code, stderr } = await file.run()
      expect(code).toBe(1)
      expect(stderr).toContain(`process ${first.process.pid} migrates ${file.path}`)
      first.process.kill('SIGKILL')
      await first.ended
      release()
      expect(await file.run()).toMatchObject({ code: 0 })
      expect(sorted(server.titles)).toEqual(sorted(titlesOf(20)))
    },
  )
})
