import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageVersion } from '../../../src/runtime/version.js'
import { full } from '../../../test/support/full.js'
import { startProgram } from '../../../test/support/programs.js'

const manifest = join(import.meta.dirname, '../package.json')
const program = join(import.meta.dirname, '../bin/sluice-tools.js')
const run = (...written: string[]) => startProgram(program, { arguments: written }).ended

describe('the program sluice-tools', () => {
  it('prints its version and its help', async () => {
    expect(await run('--version')).toMatchObject({ code: 0, stdout: `${packageVersion}\n`, stderr: '' })
    const { stdout } = await run('--help')
    for (const command of ['ship [FILE…]', 'migrate FILE']) expect(stdout).toContain(command)
    for (const command of ['ship', 'migrate']) {
      const { code, stdout } = await run(command, '-h')
      expect([command, code]).toEqual([command, 0])
      for (const words of [`Usage: sluice-tools ${command}`, '--json', 'Exit status: 0', 'Example'])
        expect(stdout).toContain(words)
    }
  })

  const complete = ['package.json', '--project', 'p', '--type', 't']
  it.runIf(full).each<[string[], string]>([
    [[], 'sluice-tools: expected a command'],
    [['migrat'], 'sluice-tools: unknown command migrat; did you mean migrate?'],
    [['replay', 'spool'], 'sluice-tools: replay is in sluice: npx sluice replay'],
    [['migrate', '--projct', 'p'], 'unknown option --projct; did you mean --project?'],
    [['migrate', '--project', 'p', '--type', 't'], 'FILE: expected the name of a file'],
    [['migrate', ...complete, 'b'], 'FILE: expected one file, got 2: package.json, b'],
    [['migrate', 'a', '--type', 't'], '--project: expected a project, got none'],
    [['migrate', 'a', '--project', 'p'], '--type: expected a content type, got none'],
    [['migrate', 'a', '--type', '--project', 'p'], '--type: expected a value, got "--project"'],
    [['migrate', 'a', '--project', '..', '--type', 't'], '--project: expected a name, got ".."'],
    [['migrate', ...complete, '--concurrency', '0'], '--concurrency: expected a whole number from 1 to 256, got "0"'],
    [
      ['migrate', ...complete, '--concurrency', '1e2'],
      '--concurrency: expected a whole number from 1 to 256, got "1e2"',
    ],
    [['migrate', 'not-there', '--project', 'p', '--type', 't'], 'there is no such file: not-there'],
    [['migrate', '/', '--project', 'p', '--type', 't'], '/ is a folder, not a file'],
    [['migrate', manifest, '--project', 'p', '--type', 't'], 'options url and apiKey are missing'],
  ])('called with %j ends with 2 and says: %s', async (written, words) => {
    const { code, stdout, stderr } = await run(...written)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(words)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})
