import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Progress } from '../../../../src/cli/progress.js'
import { ApiError } from '../../../../src/content/api-error.js'
import { settle, VirtualClock } from '../../../../test/support/virtual-clock.js'
import { linesOfFile } from '../../src/line-splitter.js'
import { Journal } from '../../src/migrate/journal.js'
import { Migration } from '../../src/migrate/migration.js'
import { RejectsFile } from '../../src/migrate/rejects-file.js'

it('waits for five minutes at most, whatever the service asks for, and says so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'migration-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'articles.ndjson')
  writeFileSync(file, '{"fields":{"title":"a"}}\n')
  const journal = await Journal.open(`${file}.journal`, { url: 'http://host', project: 'demo', type: 'article' })
  onTestFinished(() => journal.close())
  const clock = new VirtualClock()
  let said = ''
  let waits = () => {}
  const waiting = new Promise<void>((resolve) => {
    waits = resolve
  })
  const write = (text: string) => {
    said += text
    if (said.includes('waits')) waits()
  }
  const sentAt: number[] = []
  const send = async () => {
    sentAt.push(clock.now())
    if (sentAt.length > 1) return 'entry_1'
    throw new ApiError({ code: 'too-many-requests', message: 'busy', status: 429, retryAfterMs: 99_999_999_000 })
  }
  const migration = new Migration({
    lines: linesOfFile(file),
    target: { send },
    journal,
    rejects: await RejectsFile.begin(join(folder, 'rejects')),
    progress: new Progress({ screen: { write }, clock, totalBytes: undefined }),
    concurrency: 1,
    retry: { baseMs: 100, capMs: 1000 },
    clock,
    random: () => 0.5,
    signal: new AbortController().signal,
  })
  const ended = migration.run()
  await waiting
  await settle()
  await clock.advance(300_000)
  expect(sentAt).toEqual([0, 300_000])
  await ended
  expect(migration.account).toMatchObject({ lines: 1, arrived: 1 })
  expect(said).toContain('line 1: waits 300 s; the service asks for 99999999 s')
})
