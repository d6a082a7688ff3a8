import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

const src = join(import.meta.dirname, '../../src')

/** From the top down. A folder may import itself, its own tier, and the tiers below it. */
const tiers = [
  ['(entries)'],
  ['cli', 'tracking', 'loggers', 'content'],
  ['process'],
  ['hand-off'],
  ['engine'],
  ['diagnostics', 'spool', 'http'],
  ['delivery'],
  ['records', 'options'],
  ['errors', 'runtime'],
]

interface Import {
  readonly from: string
  readonly to: string
}

const folderOf = (path: string) => (dirname(path) === '.' ? '(entries)' : path.split('/')[0]!)
const tierOf = (folder: string) => tiers.findIndex((tier) => tier.includes(folder))

function importsOf(file: string): Import[] {
  const source = readFileSync(join(src, file), 'utf8')
  return [...source.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, specifier]) => ({
    from: file,
    to: relative(src, join(src, dirname(file), specifier!)),
  }))
}

function isAllowed({ from, to }: Import): boolean {
  const [upper, lower] = [folderOf(from), folderOf(to)]
  return tierOf(upper) <= tierOf(lower)
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

describe('the direction of imports', () => {
  it('knows the tier of every folder of src', () => {
    expect([...new Set(files.map(folderOf))].filter((folder) => tierOf(folder) === -1)).toEqual([])
  })

  it('points down the list of the design, everywhere', () => {
    const all = files.flatMap(importsOf)
    expect(all.length).toBeGreaterThan(50)
    expect(all.filter((each) => !isAllowed(each))).toEqual([])
  })

  it('would notice an import that points up', () => {
    expect(isAllowed({ from: 'records/level.ts', to: 'delivery/lane.js' })).toBe(false)
    expect(isAllowed({ from: 'delivery/lane.ts', to: 'http/undici-sender.js' })).toBe(false)
    expect(isAllowed({ from: 'engine/engine.ts', to: 'process/signals.js' })).toBe(false)
    expect(isAllowed({ from: 'hand-off/worker-link.ts', to: 'process/pino-streams.js' })).toBe(false)
    expect(isAllowed({ from: 'tracking/sluice.ts', to: 'index.js' })).toBe(false)
    expect(isAllowed({ from: 'http/undici-sender.ts', to: 'delivery/sender.js' })).toBe(true)
  })

  it('keeps the library free of the receiver', () => {
    const users = files.filter((file) => readFileSync(join(src, file), 'utf8').includes("'sluice-receiver"))
    expect(users).toEqual([])
  })
})
