import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { full } from '../../support/full.js'
import { startProgram } from '../../support/programs.js'
import { startTestReceiver } from '../../support/receiver.js'

const root = join(import.meta.dirname, '../../..')
const flags = ['--test', '--test-reporter=tap']
const runTests = (variables: Record<string, string>) =>
  startProgram('../../examples/testing/sign-up.test.js', { flags, variables }).ended

describe('the example testing/sign-up.test.js', () => {
  it('passes where nothing is configured, and Sluice says nothing', async () => {
    const { code, stdout, stderr } = await runTests({})
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('# pass 2')
    expect(stdout).not.toContain('sluice:')
  })

  it.runIf(full)('passes where a service is configured, and nothing leaves the process', async () => {
    const receiver = await startTestReceiver()
    onTestFinished(() => receiver.close())
    expect(await runTests(receiver.variables)).toMatchObject({ code: 0, stderr: '' })
    expect([await receiver.logs(), await receiver.values()]).toEqual([[], []])
  })

  it.runIf(full)('fails where the application records no event', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-example-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    for (const name of ['sign-up.js', 'sign-up.test.js']) {
      const text = readFileSync(join(root, 'examples/testing', name), 'utf8')
      writeFileSync(join(folder, name), text.replace('track(signedUp)', ''))
    }
    const { code, stdout } = await startProgram(join(folder, 'sign-up.test.js'), { flags }).ended
    expect(code).toBe(1)
    expect(stdout).toContain('not ok 1 - a new user is counted, and named in the log')
    expect(stdout).toContain('\nok 2')
  })
})
