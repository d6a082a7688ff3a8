import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { dataFolder } from './data-folder.js'

const folder = dataFolder()
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const hasBuiltIn = major > 22 || (major === 22 && minor >= 13)

/** The receiver as it is published, in a folder with all packages but its optional one. */
async function installedWithoutOptional(): Promise<string> {
  const receiver = join(import.meta.dirname, '..')
  const packages = folder.file('node_modules')
  const own = join(packages, 'sluice-receiver')
  mkdirSync(own, { recursive: true })
  for (const part of ['bin', 'dist', 'package.json']) cpSync(join(receiver, part), join(own, part), { recursive: true })
  for (const from of [join(receiver, '../../node_modules'), join(receiver, 'node_modules')]) {
    for (const name of await readdir(from).catch(() => [])) {
      if (['@photostructure', 'sluice-receiver', '.bin'].includes(name)) continue
      const target = from.endsWith('receiver/node_modules') ? join(own, 'node_modules') : packages
      mkdirSync(target, { recursive: true })
      symlinkSync(join(from, name), join(target, name))
    }
  }
  return join(own, 'bin/sluice-receiver.js')
}

it('a receiver without its optional package says what to install, or uses the SQLite of Node, without a warning', async () => {
  const program = await installedWithoutOptional()
  // An address of documentation: where the store opens, the start fails at the next step.
  const written = ['--host', '203.0.113.1', '--port', '0', '--data', folder.file('data')]
  const { status, stderr } = spawnSync(process.execPath, [program, ...written], { encoding: 'utf8' })
  if (hasBuiltIn) expect(stderr).toMatch(/^sluice-receiver: cannot listen on 203\.0\.113\.1:0: [^\n]+\n$/)
  else {
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(
        /^sluice-receiver: [^\n]*Node\.js 20\.[\d.]+ has no SQLite of its own; use Node\.js 22\.13 or newer, or npm install @photostructure\/sqlite [^\n]+\n$/,
      ),
    })
  }
})
