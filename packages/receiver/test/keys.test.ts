import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Keys } from '../dist/keys/keys.js'
import { scopes } from '../dist/keys/scopes.js'
import { SqliteStorage } from '../dist/storage/sqlite/sqlite-storage.js'

const { timingSafeEqual } = crypto
let compared: number[]
beforeEach(() => {
  compared = []
  const watched: typeof timingSafeEqual = (a, b) => {
    compared.push(a.byteLength)
    return timingSafeEqual(a, b)
  }
  Object.assign(crypto, { timingSafeEqual: watched })
  syncBuiltinESMExports()
})
afterEach(() => {
  Object.assign(crypto, { timingSafeEqual })
  syncBuiltinESMExports()
})

describe('keys', () => {
  it('are compared in constant time: the whole hash of each of them, whatever is offered', async () => {
    const storage = new SqliteStorage(':memory:')
    const keys = await Keys.load(storage.keys)
    const made = [await keys.make({ scopes }), await keys.make({ scopes }), await keys.make({ scopes: ['read'] })]
    const minted = made.map(({ key }) => key)
    const [first = '', , last = ''] = minted
    const offers: [string, string | undefined][] = [
      [first, made[0]!.stored.id],
      [last, made[2]!.stored.id],
      [`x${first.slice(1)}`, undefined],
      [`${last.slice(0, -1)}x`, undefined],
      [`${first}x`, undefined],
      ['', undefined],
    ]
    for (const [offered, id] of offers) {
      compared = []
      expect(keys.find(offered)?.id).toBe(id)
      expect(compared).toEqual(minted.map(() => 32))
    }
    const stored = JSON.stringify(await storage.keys.list())
    expect(minted.filter((key) => stored.includes(key))).toEqual([])
    await storage.close()
  })
})
