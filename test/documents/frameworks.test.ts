import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readMarkdown, root } from './markdown.js'

const folder = join(root, 'examples/frameworks')
const names = readdirSync(folder)

interface Manifest {
  readonly dependencies: Record<string, string>
  readonly devDependencies?: Record<string, string>
}
const manifestOf = (name: string): Manifest => JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8'))

const rows = (readMarkdown('docs/frameworks.md').rows.frameworks ?? []).map((cells) => ({
  name: /\.\.\/examples\/frameworks\/([\w-]+)/.exec(cells[0]!)?.[1] ?? '',
  versions: [...cells.at(-1)!.matchAll(/`([^`]+)` (\S+?)(?=,|$)/g)].map(
    ([, name, version]) => [name!, version!] as const,
  ),
}))

describe('the frameworks of docs/frameworks.md', () => {
  it('are those of examples/frameworks, and each has its test', () => {
    expect([...new Set(rows.map(({ name }) => name))].sort()).toEqual(names.sort())
    const tests = names.map((name) => `test/frameworks/${name}.full.test.ts`)
    expect(tests.filter((test) => !existsSync(join(root, test)))).toEqual([])
  })

  it.each(rows)('were tried with the versions of the example $name', ({ name, versions }) => {
    const { dependencies } = manifestOf(name)
    expect(versions.length).toBeGreaterThan(0)
    expect(versions.filter(([name, version]) => dependencies[name] !== version)).toEqual([])
  })
})

describe('an example of a framework', () => {
  it.each(names)('%s has exact versions of all that it runs on', (name) => {
    const { sluice, ...others } = manifestOf(name).dependencies
    expect(sluice).toBe('latest')
    expect(Object.entries(others).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
  })

  it.each(names)('%s has files of at most 60 lines', (name) => {
    const files = readdirSync(join(folder, name), { recursive: true, encoding: 'utf8' }).filter(
      (file) => /\.[cm]?[jt]sx?$/.test(file) && !/(^|\/)(node_modules|dist)\//.test(file),
    )
    const lines = (file: string) =>
      readFileSync(join(folder, name, file), 'utf8')
        .trimEnd()
        .split('\n').length
    expect(files.length).toBeGreaterThan(0)
    expect(files.filter((file) => lines(file) > 60)).toEqual([])
  })
})
