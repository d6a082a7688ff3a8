import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeFiles } from '../../src/runtime/files.js'
import { Acknowledgements, acknowledgementsOf, mergedRanges } from '../../src/spool/acknowledgements.js'
import { withChecksum } from '../../src/spool/spool-line.js'
import { spoolFolder } from '../support/spool.js'

const setUp = () => new Acknowledgements(join(spoolFolder(), 'file.ndjson'), nodeFiles)

describe('acknowledgements', () => {
  it('stand beside their segment', () => {
    expect(acknowledgementsOf('/a.ndjson/b.ndjson')).toBe('/a.ndjson/b.acks')
    expect(acknowledgementsOf('/a.ndjson/b')).toBe('/a.ndjson/b')
  })

  it('are written as ascending ranges', () => {
    const acknowledgements = setUp()
    acknowledgements.add([10, 2, 3, 1, 7, 9])
    acknowledgements.add([20])
    const lines = readFileSync(acknowledgements.path, 'utf8').trimEnd().split('\n')
    expect(lines).toEqual(['1-3,7,9-10', '20'].map((ranges) => withChecksum(`"settled":"${ranges}"}`)))
    expect([...acknowledgements.read()]).toEqual([
      [1, 3],
      [7, 7],
      [9, 10],
      [20, 20],
    ])
  })

  it.each(['"x":1,"settled":"1"}', '"settled":"1"}x', '"settled":""}', '"settled":"a"}', '"settled":"1-"}', '"n":0}'])(
    'name nothing in a line such as %s',
    (rest) => {
      const acknowledgements = setUp()
      writeFileSync(acknowledgements.path, `${withChecksum(rest)}\n${withChecksum('"settled":"5"}')}\n`)
      expect([...acknowledgements.read()]).toEqual([[5, 5]])
    },
  )

  it('name no other record, whichever bit was flipped and wherever they were cut', () => {
    const acknowledgements = setUp()
    const batches = [[0, 1, 2, 5], [12], [7, 8]]
    for (const batch of batches) acknowledgements.add(batch)
    const bytes = readFileSync(acknowledgements.path)
    const named = (damaged: Buffer) => {
      writeFileSync(acknowledgements.path, damaged)
      return [...acknowledgements.read()].flatMap(([from, to]) =>
        Array.from({ length: to - from + 1 }, (_, index) => from + index),
      )
    }
    expect(named(bytes)).toEqual(batches.flat())
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      // One line is damaged, and names nothing.
      const others = batches.map((_, damaged) => batches.filter((_, batch) => batch !== damaged).flat())
      expect([batches.flat(), ...others], `bit ${bit}`).toContainEqual(named(changed))
    }
    for (let length = 0; length < bytes.length; length++) {
      const whole = [0, 1, 2, 3].map((count) => batches.slice(0, count).flat())
      expect(whole, `cut at ${length}`).toContainEqual(named(bytes.subarray(0, length)))
    }
  })

  it('are merged where they overlap', () => {
    const ranges = [
      [20, 30],
      [5, 6],
      [1, 3],
      [3, 4],
      [22, 25],
    ] as const
    expect(mergedRanges(ranges)).toEqual([
      [1, 4],
      [5, 6],
      [20, 30],
    ])
    expect(mergedRanges([])).toEqual([])
  })
})
