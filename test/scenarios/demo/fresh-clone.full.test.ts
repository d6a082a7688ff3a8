import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cloneTo, Project } from '../../support/project.js'

describe('a fresh clone', () => {
  const project = new Project()
  beforeAll(() => cloneTo(project.folder))
  afterAll(() => project.remove())

  const has = (name: string) => existsSync(join(project.folder, 'node_modules', name))
  /** Lines of stderr, which name the steps that take long. */
  const stepsOf = (stderr: string) => stderr.trim().split('\n')

  it('shows the demo with no more than it needs, then builds with everything, then shows the demo with that', async () => {
    const first = await project.npm('run', 'demo')
    expect(first.code).toBe(0)
    expect(stepsOf(first.stderr)).toEqual(['Installing the dependencies (npm ci --omit=dev) …', 'Building …'])
    expect(first.stdout).toMatch(/\nfirst record .+\n400 shoppers come …\n/)
    expect([has('typescript'), has('vitest')]).toEqual([false, false])

    const again = await project.npm('run', 'demo')
    expect(stepsOf(again.stderr)).toEqual(['Building …'])

    // `npm test` begins with these.
    const installed = await project.node('tools/install.js')
    expect(stepsOf(installed.stderr)).toEqual(['Installing the dependencies (npm ci) …'])
    expect([has('typescript'), has('vitest')]).toEqual([true, true])
    const built = await project.npm('run', 'build', '--silent')
    expect(built).toMatchObject({ code: 0, stdout: '' })
    expect(await project.node('node_modules/typescript/bin/tsc', '-p', 'tsconfig.json')).toMatchObject({ code: 0 })

    const last = await project.npm('run', 'demo')
    expect(last.code).toBe(0)
    expect(stepsOf(last.stderr)).toEqual(['Building …'])
    expect(has('vitest')).toBe(true)
    expect(existsSync(join(project.folder, 'dist/index.d.ts'))).toBe(true)
  })

  it('has a build that fails, and says where, when a type is wrong', async () => {
    project.write('src/wrong.ts', "export const wrong: number = 'text'\n")
    const { code, stdout, stderr } = await project.npm('run', 'build', '--silent')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^Building …\nsrc\/wrong\.ts[:(].*TS2322/)
  })
})
