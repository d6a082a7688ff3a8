import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageVersion } from '../../src/runtime/version.js'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

interface Locked {
  readonly resolved?: string
  readonly optionalDependencies?: Record<string, string>
}

function locked(path: string): Record<string, Locked> {
  return JSON.parse(read(path)).packages
}

describe('the repository', () => {
  it.each(['.', 'benchmarks', 'tools'])('names no registry host in the lock file of %s', (folder) => {
    const packages = Object.values(locked(`${folder}/package-lock.json`))
    expect(packages.filter(({ resolved }) => resolved?.includes('://'))).toEqual([])
  })

  describe.each(['package-lock.json', 'benchmarks/package-lock.json'])('with %s', (path) => {
    const packages = locked(path)

    it('has every platform’s packages in its lock file, without which npm ci fails', () => {
      const optional = Object.values(packages).flatMap(({ optionalDependencies }) =>
        Object.keys(optionalDependencies ?? {}),
      )
      expect(optional.length).toBeGreaterThan(10)
      expect(optional.filter((name) => packages[`node_modules/${name}`] === undefined)).toEqual([])
    })
  })

  it('has a CHANGELOG entry for the version of the package', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string }
    expect(read('CHANGELOG.md')).toContain(`\n## [${version}] - `)
  })

  it.each(['package.json', 'packages/receiver/package.json', 'packages/tools/package.json'])(
    'says in the CHANGELOG why %s has each of its dependencies',
    (path) => {
      const { dependencies } = JSON.parse(read(path)) as { dependencies: Record<string, string> }
      const changelog = read('CHANGELOG.md')
      const names = Object.keys(dependencies).filter((name) => name !== 'sluice')
      expect(names.length).toBeGreaterThan(1)
      expect(names.filter((name) => !changelog.includes(`\n- \`${name}\`: `))).toEqual([])
    },
  )

  it('leaves the versions of all that the demo installs to the root', () => {
    const { dependencies } = JSON.parse(read('examples/demo/package.json')) as { dependencies: Record<string, string> }
    const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> }
    expect(new Set(Object.values(dependencies))).toEqual(new Set(['*']))
    expect(Object.keys(dependencies).filter((name) => devDependencies[name] === undefined)).toEqual([])
  })

  it('says the same version in its package.json and in the header user-agent', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string }
    expect(packageVersion).toBe(version)
  })
})
