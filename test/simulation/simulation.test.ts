import { describe, expect, it } from 'vitest'
import { full, rowsOf } from '../support/full.js'
import { deriveSchedule } from './schedule.js'
import { simulate } from './simulation.js'

/** `npm run simulate` simulates as many as one likes. */
const seeds = full ? 60 : 20
const perTest = 20

describe('the whole of Sluice, in simulated time, network, disk and death', () => {
  it.each(Array.from({ length: seeds / perTest }, (_, part) => 1 + part * perTest))(
    'keeps all promises, in each of the seeds from %d on',
    async (from) => {
      const failures: string[] = []
      for (let seed = from; seed < from + perTest; seed++) {
        const verdict = await simulate(deriveSchedule(seed))
        for (const text of verdict.failures) failures.push(`seed ${seed}: ${text}`)
      }
      expect(failures).toEqual([])
    },
    120_000,
  )
})

it.each(rowsOf([1, 9, 34], (seed) => seed === 1))(
  'gives the same trace each time, byte for byte, with seed %d',
  async (seed) => {
    const first = await simulate(deriveSchedule(seed), { keepsTrace: true })
    // Another simulation between them must not matter.
    await simulate(deriveSchedule(seed + 1))
    const second = await simulate(deriveSchedule(seed), { keepsTrace: true })
    expect(second.trace.join('\n')).toBe(first.trace.join('\n'))
    expect(second.traceHash).toBe(first.traceHash)
    expect(second.steps).toBe(first.steps)
  },
)
