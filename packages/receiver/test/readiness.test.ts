import { describe, expect, it } from 'vitest'
import { Readiness } from '../dist/http/readiness.js'
import type { Storage } from '../dist/storage/storage.js'
import { refusal, startReceiverForTest } from './support.js'

describe('GET /api/health and GET /api/ready', () => {
  it('answer everyone: without a key and with a wrong one', async () => {
    const receiver = await startReceiverForTest()
    for (const headers of [{ 'x-api-key': '' }, { 'x-api-key': 'wrong' }]) {
      const health = await receiver.call('GET', '/api/health', undefined, headers)
      expect(health).toMatchObject({ status: 200, body: { status: 'ok' } })
      const ready = await receiver.call('GET', '/api/ready', undefined, headers)
      expect(ready).toMatchObject({ status: 200, body: { status: 'ready' } })
    }
    expect(await receiver.call('POST', '/api/ready', {}, { 'x-api-key': '' })).toMatchObject({
      status: 401,
      body: refusal(''),
    })
    await receiver.close()
  })
})

describe('the readiness of a store', () => {
  it('is checked at most once a second, however often it is asked', async () => {
    let nowMs = 0
    let checks = 0
    const check = async () => {
      if (++checks === 2) throw new Error('the disk is gone')
    }
    const readiness = new Readiness({ check } as Storage, () => nowMs)
    const ask = async () => [await readiness.refusal(), await readiness.refusal(), checks]
    expect(await ask()).toEqual([undefined, undefined, 1])
    nowMs = 999
    expect(await ask()).toEqual([undefined, undefined, 1])
    nowMs = 1000
    expect(await ask()).toEqual(['the disk is gone', 'the disk is gone', 2])
    nowMs = 2000
    expect(await ask()).toEqual([undefined, undefined, 3])
  })
})
