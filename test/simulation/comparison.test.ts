import { describe, expect, it } from 'vitest'
import { compare } from '../../tools/simulation-comparison.js'
import type { SeedMeasure, SeedPair } from './main.js'

const usual: SeedMeasure = { violation: undefined, requests: 100, taken: 100, dropped: 20, delays: delaysOf(1000) }

function delaysOf(ms: number): number[] {
  return Array.from({ length: 100 }, () => ms)
}

/** Seeds that cost as usual, but with the next delivery. */
function pairsWith(next: (seed: number) => Partial<SeedMeasure>, seeds = 40): SeedPair[] {
  return Array.from({ length: seeds }, (_, index) => {
    const seed = index + 1
    return { seed, now: usual, next: { ...usual, ...next(seed) } }
  })
}

describe('a comparison of two deliveries', () => {
  it('is passed by two that are the same, with ratios of exactly 1', () => {
    const { text, missed } = compare(pairsWith(() => ({})))
    expect(missed).toEqual([])
    expect(text).toMatch(/^requests +4000 +4000 +1 +≤ 1.05 × now$/m)
    expect(text).toMatch(/^storedAt p99 \(ms\) +1000 +1000 +1 +≤ 1.05 × now \+ 20 ms$/m)
  })

  it.each([
    { names: ['requests'], most: { requests: 105 }, more: { requests: 106 } },
    { names: ['requests at the service'], most: { taken: 105 }, more: { taken: 106 } },
    { names: ['records dropped'], most: { dropped: 20 }, more: { dropped: 21 } },
    {
      names: ['storedAt p50 (ms)', 'storedAt p99 (ms)'],
      most: { delays: delaysOf(1070) },
      more: { delays: delaysOf(1071) },
    },
  ])('bounds $names', ({ names, most, more }) => {
    expect(compare(pairsWith(() => most)).missed).toEqual([])
    const { text, missed } = compare(pairsWith(() => more))
    expect(missed).toEqual(names)
    for (const name of names) expect(text).toContain(`${name}: worst in\n  seed 1: `)
  })

  it('takes no bound as missed that chance explains: one seed among many is far above it', () => {
    const { text, missed } = compare(pairsWith((seed) => (seed === 7 ? { dropped: 60 } : {})))
    expect(missed).toEqual([])
    expect(text).toMatch(/^records dropped +800 +840 +1\.0500 +≤ now +above it, perhaps by chance/m)
  })

  it('sees a small excess in all seeds behind the chance of each', () => {
    const { missed } = compare(pairsWith((seed) => ({ dropped: seed % 3 === 0 ? 12 : 30 }), 400))
    expect(missed).toEqual(['records dropped'])
  })

  it.each(['now', 'next'] as const)('is failed by one violation with the delivery of %s', (of) => {
    const failed = { ...usual, violation: 'at 1 s: lost\nstack' }
    const pairs = pairsWith(() => ({})).map((pair) => (pair.seed === 7 ? { ...pair, [of]: failed } : pair))
    const { text, missed } = compare(pairs)
    expect(missed).toEqual(['seeds with a violation'])
    const delivery = of === 'next' ? ' --delivery next' : ''
    expect(text).toContain(`  seed 7: at 1 s: lost; npm run simulate -- --show --from 7${delivery}\n`)
  })

  it('names the ten worst seeds, the worst first', () => {
    const { text } = compare(pairsWith((seed) => ({ requests: 200 + seed }), 12))
    const seeds = [...text.matchAll(/ {2}seed (\d+): 100 → \d+;/g)]
    expect(seeds.map(([, seed]) => Number(seed))).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3])
  })
})
