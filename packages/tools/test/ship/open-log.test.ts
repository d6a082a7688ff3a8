import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { OpenLog, type Place } from '../../src/ship/open-log.js'
import { folderHere } from '../support/shipping.js'

async function opened(path: string, starts?: 'end' | readonly Place[]): Promise<OpenLog> {
  const log = await OpenLog.open(path, starts)
  onTestFinished(() => log.close())
  return log
}

/** The lines that are new, with their names. All are taken. */
async function takeAll(log: OpenLog): Promise<[text: string, name: string][]> {
  const found: [string, string][] = []
  for await (const line of log.lines()) {
    found.push([line.bytes.toString(), log.nameOf(line)])
    log.took(line)
  }
  return found
}
const texts = (lines: readonly [text: string, name: string][]) => lines.map(([text]) => text)

it('gives a line the same name after a restart, and another one in another content of the file', async () => {
  const path = join(folderHere(), 'app.log')
  writeFileSync(path, 'a\na\n')
  const log = await opened(path)
  const start = log.place()
  const first = await takeAll(log)
  expect(texts(first)).toEqual(['a', 'a'])
  expect(await takeAll(await opened(path, [start]))).toEqual(first)
  writeFileSync(path, 'a\n')
  const second = await takeAll(log)
  expect(texts(second)).toEqual(['a'])
  expect(new Set([...first, ...second].map(([, name]) => name)).size).toBe(3)
})

it('keeps the place of the content that was read, and not of one that has come since', async () => {
  const path = join(folderHere(), 'app.log')
  writeFileSync(path, 'old\n')
  const log = await opened(path)
  await takeAll(log)
  writeFileSync(path, 'new\nlines\n')
  expect(texts(await takeAll(await opened(path, [log.place()])))).toEqual(['new', 'lines'])
})

it('goes on behind a line of several pieces, and at the first place whose content is there', async () => {
  const path = join(folderHere(), 'app.log')
  const long = 'x'.repeat(200_000)
  writeFileSync(path, `a\n${long}\nunfin`)
  const log = await opened(path)
  expect(texts(await takeAll(log))).toEqual(['a', long])
  appendFileSync(path, 'ished\n')
  const other: Place = { identity: log.identity, generation: 'other', position: 200_000, witness: 'other' }
  const again = await opened(path, [other, log.place()])
  expect(again.place()).toEqual(log.place())
  expect(texts(await takeAll(again))).toEqual(['unfinished'])
  expect(texts(await takeAll(await opened(path, 'end')))).toEqual([])
})
