import { rm } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { openSqlite } from '../dist/storage/sqlite/database.js'
import { dataFolder } from './data-folder.js'
import { caller, log, startReceiverForTest } from './support.js'

const data = dataFolder()

const texts = () => data.file('receiver-texts.sqlite')

function inTexts(sql: string): void {
  const database = openSqlite(texts())
  database.exec(sql)
  database.close()
}

/** Starts a receiver on the data, stores the messages, and counts those with the word. */
async function session(messages: readonly string[], { word, apiKey }: { word: string; apiKey?: string | null }) {
  const receiver = await startReceiverForTest({ data: data.path })
  const key = apiKey ?? receiver.apiKey
  const call = caller({ url: receiver.url, apiKey: key })
  for (const message of messages) expect((await call('POST', '/logs/demo', { ...log, message })).status).toBe(201)
  const { body } = await call('GET', `/api/logs/demo?text=${word}`)
  await receiver.close()
  return { apiKey: key, total: body.total }
}

describe('the text index in a file', () => {
  it('finds records from before the first query, from before a restart, and from just now', async () => {
    const { apiKey, total } = await session(['a word', 'another'], { word: 'word' })
    expect(total).toBe(1)
    expect(await session([], { word: 'word', apiKey })).toMatchObject({ total: 1 })
    expect(await session(['word, again'], { word: 'word', apiKey })).toMatchObject({ total: 2 })
  })

  it('is made again where it is missing', async () => {
    const { apiKey } = await session(['a word'], { word: 'word' })
    await rm(texts())
    expect(await session([], { word: 'word', apiKey })).toMatchObject({ total: 1 })
  })

  it('is made again where it belongs to other records', async () => {
    await session(['a word', 'a word', 'a word'], { word: 'word' })
    await rm(data.file('receiver.sqlite'))
    expect((await session(['one', 'two', 'three', 'a word'], { word: 'word' })).total).toBe(1)
  })

  it('tells why it cannot be updated, and is updated once it can', async () => {
    const receiver = await startReceiverForTest({ data: data.path })
    await receiver.call('GET', '/api/logs/demo?text=word')
    // The trigger ends the transaction, as SQLite does when the disk is full.
    inTexts("CREATE TRIGGER failing BEFORE UPDATE ON progress BEGIN SELECT RAISE(ROLLBACK, 'the cause'); END")
    await receiver.call('POST', '/logs/demo', { ...log, message: 'a word' })
    const { status, body } = await receiver.call('GET', '/api/logs/demo?text=word')
    expect({ status, message: body.errors[0].message }).toEqual({ status: 500, message: 'the cause' })
    inTexts('DROP TRIGGER failing')
    expect((await receiver.call('GET', '/api/logs/demo?text=word')).body.total).toBe(1)
    await receiver.close()
  })

  it('answers many questions while records come in', async () => {
    const receiver = await startReceiverForTest({ data: data.path })
    const lanes = Array.from({ length: 20 }, async (_, lane) => {
      for (let number = lane; number < 60; number += 20) {
        await receiver.call('POST', '/logs/demo', { ...log, message: `number n${number}` })
        expect((await receiver.call('GET', `/api/logs/demo?text=n${number}`)).body).toMatchObject({ total: 1 })
      }
    })
    await Promise.all(lanes)
    expect((await receiver.call('GET', '/api/logs/demo?text=number')).body.total).toBe(60)
    await receiver.close()
  })
})
