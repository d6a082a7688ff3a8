import { copyFile, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { full } from '../../../test/support/full.js'
import { openSqlite } from '../dist/storage/sqlite/database.js'
import { dataFolder } from './data-folder.js'
import { killAll, ready, start } from './processes.js'
import { article, caller, log, startReceiverForTest } from './support.js'

const data = dataFolder()
afterEach(killAll)

async function backup(file: string, ...args: string[]) {
  const { child, exit } = start('backup', file, '--data', data.path, ...args)
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exit])
  return { stdout, stderr, code }
}

/** Enough logs that a copy of them takes a while. */
const many = (turn: number) => {
  const logRecords = Array.from({ length: 2000 }, () => ({ body: { stringValue: `${turn} ${'x'.repeat(500)}` } }))
  return { resourceLogs: [{ scopeLogs: [{ logRecords }] }] }
}

/** The messages of all logs with a word. */
async function messagesWith(word: string, call: ReturnType<typeof caller>): Promise<string[]> {
  const messages: string[] = []
  for (let before = ''; ; ) {
    const { list } = (await call('GET', `/api/logs/demo?text=${word}&limit=1000${before}`)).body
    if (list.length === 0) return messages
    messages.push(...list.map(({ message }: { message: string }) => message))
    before = `&before=${list.at(-1).id}`
  }
}

describe('sluice-receiver backup', () => {
  it('copies the store of a receiver that is written to, and a receiver starts on the copy with all of it', async () => {
    const receiver = await ready('--data', data.path)
    const call = caller(receiver)
    await call('POST', '/api/projects/demo/content-types', article)
    for (let turn = 0; turn < 5; turn++) await call('POST', '/otlp/demo/v1/logs', many(turn))
    const acknowledged: string[] = []
    let isDone = false
    const write = async () => {
      while (!isDone) {
        const message = `order ${acknowledged.length} ${Math.random()}`
        expect((await call('POST', '/logs/demo', { ...log, message })).status).toBe(201)
        acknowledged.push(message)
      }
    }
    const writers = [write(), write(), write()]
    const file = data.file('copy.sqlite')
    await vi.waitUntil(() => acknowledged.length > 100, { timeout: 30_000 })
    const before = [...acknowledged]
    const { stdout, stderr, code } = await backup(file, '--json')
    expect([stderr, code]).toEqual(['', 0])
    expect(acknowledged.length).toBeGreaterThan(before.length)
    isDone = true
    await Promise.all(writers)
    expect(JSON.parse(stdout)).toEqual({ file, bytes: (await stat(file)).size })

    const folder = data.file('restored')
    await mkdir(folder)
    await copyFile(file, `${folder}/receiver.sqlite`)
    const restored = await startReceiverForTest({ data: folder })
    const read = caller({ url: restored.url, apiKey: receiver.apiKey })
    const messages = await messagesWith('order', read)
    expect(new Set(messages).size).toBe(messages.length)
    expect(before.filter((message) => !messages.includes(message))).toEqual([])
    expect(messages.filter((message) => !acknowledged.includes(message))).toEqual([])
    expect((await read('GET', '/api/logs/demo')).body.total).toBe(10_000 + messages.length)
    expect((await read('GET', '/ng-cms/content-types/demo')).body.list).toMatchObject([{ key: 'article' }])
    expect((await read('POST', '/logs/demo', log)).status).toBe(201)
    await restored.close()
    const database = openSqlite(file)
    expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    database.close()
  })

  it.skipIf(process.platform === 'win32')('makes a file that others cannot read, and leaves no other', async () => {
    await (await startReceiverForTest({ data: data.path })).close()
    const file = data.file('copy.sqlite')
    expect((await backup(file)).stdout).toMatch(/^\S+copy\.sqlite has \d+ bytes\.\n$/)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await readdir(data.path)).filter((name) => name.includes('copy'))).toEqual(['copy.sqlite'])
  })

  it.runIf(full).each([
    ['there is no store', 'copy.sqlite', '/nowhere'],
    ['in memory', 'copy.sqlite', ':memory:'],
    ['exists', 'taken.sqlite', undefined],
    ['cannot back up into', 'no/folder/copy.sqlite', undefined],
  ])('says in one line that %s', async (named, file, folder) => {
    await (await startReceiverForTest({ data: data.path })).close()
    await writeFile(data.file('taken.sqlite'), 'precious')
    const { stderr, code } = await backup(data.file(file), ...(folder === undefined ? [] : ['--data', folder]))
    expect(stderr).toMatch(/^sluice-receiver: [^\n]+\n$/)
    expect(stderr).toContain(named)
    expect(code).toBe(1)
    expect((await readdir(data.path)).filter((name) => name.endsWith('.part'))).toEqual([])
  })
})
