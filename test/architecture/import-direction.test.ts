import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { importsOf, readSource, sourceFiles } from './source-files.js'

/** From the top down. A folder may import itself, its own tier, and the tiers below it. */
const tiers = [
  ['(entries)'],
  ['cli', 'tracking', 'metrics', 'loggers', 'content', 'moved'],
  ['process'],
  ['hand-off'],
  ['engine'],
  ['diagnostics', 'spool', 'http'],
  ['delivery', 'log', 'volume'],
  ['pipe'],
  ['records', 'options', 'context', 'control'],
  ['errors', 'runtime'],
]

interface Import {
  readonly from: string
  readonly to: string
}

const folderOf = (path: string) => (dirname(path) === '.' ? '(entries)' : path.split('/')[0]!)
const tierOf = (folder: string) => tiers.findIndex((tier) => tier.includes(folder))

function isAllowed({ from, to }: Import): boolean {
  const [upper, lower] = [folderOf(from), folderOf(to)]
  return tierOf(upper) <= tierOf(lower)
}

describe('the direction of imports', () => {
  it('knows the tier of every folder of src', () => {
    expect([...new Set(sourceFiles.map(folderOf))].filter((folder) => tierOf(folder) === -1)).toEqual([])
  })

  it('points down the list of the design, everywhere', () => {
    const all = sourceFiles.flatMap((from) => importsOf(from).map((to) => ({ from, to })))
    expect(all.length).toBeGreaterThan(50)
    expect(all.filter((each) => !isAllowed(each))).toEqual([])
  })

  it('would notice an import that points up', () => {
    expect(isAllowed({ from: 'records/level.ts', to: 'delivery/lane.ts' })).toBe(false)
    expect(isAllowed({ from: 'delivery/lane.ts', to: 'http/undici-sender.ts' })).toBe(false)
    expect(isAllowed({ from: 'engine/engine.ts', to: 'process/signals.ts' })).toBe(false)
    expect(isAllowed({ from: 'hand-off/worker-link.ts', to: 'process/pino-streams.ts' })).toBe(false)
    expect(isAllowed({ from: 'tracking/sluice.ts', to: 'index.ts' })).toBe(false)
    expect(isAllowed({ from: 'http/undici-sender.ts', to: 'delivery/sender.ts' })).toBe(true)
  })

  it('keeps the library free of the receiver', () => {
    const imports = /\b(?:from|import|require)\b[\s(]*'sluice-receiver/
    expect(sourceFiles.filter((file) => imports.test(readSource(file)))).toEqual([])
    expect(["from 'sluice-receiver/x'", "import('sluice-receiver')"].every((text) => imports.test(text))).toBe(true)
  })
})
