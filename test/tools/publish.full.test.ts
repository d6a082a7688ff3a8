import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Project } from '../support/project.js'

const root = join(import.meta.dirname, '../..')
const folders = ['.', 'packages/opentelemetry', 'packages/receiver', 'packages/tools', 'examples/demo']

it.each(['.', 'packages/opentelemetry', 'packages/receiver', 'packages/tools'])(
  'npm publish in %s refuses, and names npm run release: nothing is built there',
  async (at) => {
    const clone = new Project()
    onTestFinished(() => clone.remove())
    for (const path of ['.npmrc', ...folders.map((folder) => join(folder, 'package.json'))]) {
      cpSync(join(root, path), join(clone.folder, path))
    }
    const { code, stderr } = await clone.run('/bin/sh', ['-c', `cd ${at} && npm publish --dry-run`])
    expect(code).not.toBe(0)
    expect(stderr).toContain('npm run release')
  },
)
