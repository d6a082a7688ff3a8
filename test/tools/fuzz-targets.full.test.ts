import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../documents/markdown.js'
import { full } from '../support/full.js'

interface Target {
  readonly seeds: readonly (string | Buffer)[]
  readonly fuzz: (input: Buffer) => void | Promise<void>
}

const folder = join(root, 'tools/fuzz/targets')
const targets = readdirSync(folder).filter((file) => file.endsWith('.ts'))

describe('the targets of npm run fuzz', () => {
  it('are there for every parser', () => {
    expect(targets.length).toBeGreaterThanOrEqual(14)
  })

  it.each(targets)('hold for their seeds, and for every beginning of a seed: %s', async (file) => {
    const { seeds, fuzz } = (await import(join(folder, file))) as Target
    expect(seeds.length).toBeGreaterThan(0)
    // A request over a socket takes longer than a call.
    const most = file === 'receiver-requests.ts' ? 4 : 25
    const steps = full ? most : 2
    for (const seed of seeds.map((each) => Buffer.from(each))) {
      for (let step = 0; step <= steps; step++) await fuzz(seed.subarray(0, Math.ceil((seed.length * step) / steps)))
    }
  })
})
