import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const folder = join(import.meta.dirname, '../../../examples')
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name !== 'README.md')
  .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
  // Tests of test/frameworks and test/scenarios/demo run these.
  .filter((file) => !/^(frameworks|demo)\//.test(file))
const programs = files.filter((file) => file.endsWith('.js'))
const readme = readFileSync(join(folder, 'README.md'), 'utf8')

/** Every name in quotes in the tests of this folder. A test of a folder of examples names a file without the folder. */
const quoted = new Set(
  readdirSync(import.meta.dirname).flatMap((test) => {
    const text = readFileSync(join(import.meta.dirname, test), 'utf8')
    const names = [...text.matchAll(/'(?:(?:\.\.\/)+examples\/)?([\w./-]+)'/g)].map(([, name]) => name!)
    return names.flatMap((name) => [name, `${test.replace(/(\.full)?\.test\.ts$/, '')}/${name}`])
  }),
)

describe('the files of examples/', () => {
  it('are all run, or looked at, by tests of this folder', () => {
    // Tests of packages/tools run the migration.
    const others = files.filter((file) => !file.startsWith('migration/'))
    expect(others.filter((file) => !quoted.has(file))).toEqual([])
  })

  it('are all shown in the README beside them, which shows no others', () => {
    const links = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, file]) => file!)
    const shown = links.filter((link) => !link.startsWith('../'))
    expect(shown.sort()).toEqual([...files].sort())
    const started = [...readme.matchAll(/examples\/([\w/.-]+)/g)].map(([, file]) => file)
    expect(started.filter((file) => !files.includes(file!))).toEqual([])
  })

  it.each(programs)('%s: has at most 60 lines', (file) => {
    expect(readFileSync(join(folder, file), 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(60)
  })
})
