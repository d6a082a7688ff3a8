import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { Tallies } from '../dist/storage/records/tallies.js'
import { labelsOf } from '../dist/storage/records/written-records.js'

it('counting records with large levels keeps none of them in memory', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const used = () => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const tallies = new Tallies()
  const before = used()
  for (let number = 0; number < 100; number++) {
    const record = { timeStamp: 0, appName: 'shop', level: `${number}`.padEnd(1_000_000, 'x') }
    expect(tallies.counts([{ labels: labelsOf(record), timeMs: 0 }])).toHaveLength(3)
  }
  expect(used() - before).toBeLessThan(20 * 1_048_576)
  expect(
    tallies.counts([{ labels: labelsOf({ timeStamp: 0, appName: 'shop', level: 'info' }), timeMs: 0 }]),
  ).toHaveLength(3)
})
