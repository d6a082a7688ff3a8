import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Keys } from '../dist/keys.js'

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
    const stored: string[] = []
    const keys = await Keys.load({
      hashes: async () => stored,
      add: async (hash) => void stored.push(hash),
    })
    const minted = [await keys.mint(), await keys.mint(), await keys.mint()]
    const [first = '', , last = ''] = minted
    const offers: [string, boolean][] = [
      [first, true],
      [last, true],
      [`x${first.slice(1)}`, false],
      [`${last.slice(0, -1)}x`, false],
      [`${first}x`, false],
      ['', false],
    ]
    for (const [offered, accepted] of offers) {
      compared = []
      expect(keys.accepts(offered)).toBe(accepted)
      expect(compared).toEqual(minted.map(() => 32))
    }
    expect(stored.filter((hash) => minted.includes(hash))).toEqual([])
  })
})
