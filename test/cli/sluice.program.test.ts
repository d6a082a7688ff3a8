import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { full } from '../support/full.js'
import { startProgram } from '../support/programs.js'

const root = join(import.meta.dirname, '../..')
const run = (...written: string[]) => startProgram('../../bin/sluice.js', { arguments: written }).ended
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }

describe('the program sluice', () => {
  it('prints its version and its help', async () => {
    expect(await run('--version')).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' })
    for (const option of ['--help', '-h']) {
      const { code, stdout } = await run(option)
      expect(code).toBe(0)
      for (const command of [
        'doctor',
        'ship [FILE…]',
        'logs',
        'values',
        'replay DIR',
        'dead-letters',
        'events check',
        'migrate FILE',
      ])
        expect(stdout).toContain(command)
    }
    for (const command of ['doctor', 'ship', 'logs', 'values', 'replay', 'dead-letters', 'events', 'migrate']) {
      const { code, stdout } = await run(command, '--help')
      expect([command, code]).toEqual([command, 0])
      for (const words of [`Usage: sluice ${command}`, '--json', 'Exit status: 0', 'Example'])
        expect(stdout).toContain(words)
    }
    for (const option of ['--help', '-h']) {
      const { code, stdout } = await run('migrate', option)
      expect(code).toBe(0)
      for (const name of ['--project', '--type', '--concurrency', '--dry-run', 'Exit status']) {
        expect(stdout).toContain(name)
      }
    }
  })

  const complete = ['package.json', '--project', 'p', '--type', 't']
  it.runIf(full).each<[string[], string]>([
    [[], 'sluice: expected a command'],
    [['migrat'], 'sluice: unknown command migrat; did you mean migrate?'],
    [['constructor'], 'sluice: unknown command constructor'],
    [['--versoin'], 'sluice: unknown option --versoin; did you mean --version?'],
    [['migrate', '--projct', 'p'], 'unknown option --projct; did you mean --project?'],
    [['migrate', '-x'], 'unknown option -x'],
    [['migrate', '--project', 'p', '--type', 't'], 'FILE: expected the name of a file'],
    [['migrate', ...complete, 'b'], 'FILE: expected one file, got 2: package.json, b'],
    [['migrate', 'a', '--type', 't'], '--project: expected a project, got none'],
    [['migrate', 'a', '--project', 'p'], '--type: expected a content type, got none'],
    [['migrate', 'a', '--type', '--project', 'p'], '--type: expected a value, got "--project"'],
    [['migrate', 'a', '--project='], '--project: expected a value, got ""'],
    [['migrate', 'a', '--project', 'p', '--project', 'q'], '--project: expected once'],
    [['migrate', 'a', '--dry-run=yes'], '--dry-run: expected no value, got "yes"'],
    [['migrate', 'a', '--project', '..', '--type', 't'], '--project: expected a name, got ".."'],
    [['migrate', ...complete, '--concurrency', '0'], '--concurrency: expected a whole number from 1 to 256, got "0"'],
    [
      ['migrate', ...complete, '--concurrency', '1e2'],
      '--concurrency: expected a whole number from 1 to 256, got "1e2"',
    ],
    [['migrate', 'not-there', '--project', 'p', '--type', 't'], 'FILE: cannot read not-there: ENOENT'],
    [['migrate', '/', '--project', 'p', '--type', 't'], 'FILE: expected a file, and / is none'],
    [['migrate', join(root, 'package.json'), '--project', 'p', '--type', 't'], 'options url and apiKey are missing'],
  ])('called with %j ends with 2 and says: %s', async (written, words) => {
    const { code, stdout, stderr } = await run(...written)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(words)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  it('can be run from the package as it is published', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-pack-'))
    const npm = (...written: string[]) => execFileSync('npm', written, { cwd: root, encoding: 'utf8', stdio: 'pipe' })
    npm('pack', '--ignore-scripts', '--pack-destination', folder)
    const listing = execFileSync('tar', ['-tvf', join(folder, `sluice-${version}.tgz`)], { encoding: 'utf8' })
    expect(listing).toMatch(/^-rwxr-xr-x.* package\/bin\/sluice\.js$/m)
    expect(readFileSync(join(root, 'bin/sluice.js'), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
    rmSync(folder, { recursive: true })
  })
})
