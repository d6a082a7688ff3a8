import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { full } from '../support/full.js'
import { startProgram } from '../support/programs.js'

const root = join(import.meta.dirname, '../..')
const run = (...written: string[]) => startProgram('../../dist/cli.js', { arguments: written }).ended
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }

describe('the program sluice', () => {
  it('prints its version and its help', async () => {
    expect(await run('--version')).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' })
    for (const option of ['--help', '-h']) {
      const { code, stdout } = await run(option)
      expect(code).toBe(0)
      for (const command of ['doctor', 'replay DIR']) expect(stdout).toContain(command)
    }
    for (const command of ['doctor', 'replay']) {
      const { code, stdout } = await run(command, '--help')
      expect([command, code]).toEqual([command, 0])
      for (const words of [`Usage: sluice ${command}`, '--json', 'Exit status: 0', 'Example'])
        expect(stdout).toContain(words)
    }
    for (const option of ['--help', '-h']) {
      const { code, stdout } = await run('replay', option)
      expect(code).toBe(0)
      for (const name of ['--list', '--reason', '--drop', '--dry-run', 'Exit status']) expect(stdout).toContain(name)
    }
  })

  it.runIf(full).each<[string[], string]>([
    [[], 'sluice: expected a command'],
    [['replya'], 'sluice: unknown command replya; did you mean replay?'],
    [['constructor'], 'sluice: unknown command constructor'],
    [['--versoin'], 'sluice: unknown option --versoin; did you mean --version?'],
    [['replay', '--limit-rat', '5'], 'sluice replay: unknown option --limit-rat; did you mean --limit-rate?'],
    [['replay', '-x'], 'unknown option -x'],
    [['replay', 'a', '--limit-rate', '--dry-run'], '--limit-rate: expected a value, got "--dry-run"'],
    [['replay', 'a', '--limit-rate='], '--limit-rate: expected a value, got ""'],
    [['replay', 'a', '--limit-rate', '5', '--limit-rate', '6'], '--limit-rate: expected once'],
    [['replay', 'a', '--dry-run=yes'], '--dry-run: expected no value, got "yes"'],
  ])('called with %j ends with 2 and says: %s', async (written, words) => {
    const { code, stdout, stderr } = await run(...written)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(words)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  it.each([
    [['ship', 'app.log'], 'ship is in sluice-tools: npx sluice-tools ship'],
    [['track', '1001'], 'track is in sluice-tools: npx sluice-tools track'],
    [['run', '--', 'node', 'app.js'], 'run is in sluice-receiver: npx sluice-receiver run'],
    [['migrate', 'a', '--project', 'p'], 'migrate is in sluice-tools: npx sluice-tools migrate'],
    [['logs', '--follow'], 'logs is in sluice-receiver: npx sluice-receiver logs'],
    [['values'], 'values is in sluice-receiver: npx sluice-receiver values'],
    [['dead-letters', 'list', 'a'], 'dead letters are part of replay now: npx sluice replay DIR --list'],
    [['events', 'check'], 'events check is gone: defineEvents throws for a number that is there twice'],
  ])('says in one line where a command is that it does not have: %j', async (written, words) => {
    expect(await run(...written)).toMatchObject({ code: 2, stdout: '', stderr: `sluice: ${words}\n` })
  })

  it.runIf(full)('can be run from the package as it is published', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-pack-'))
    const npm = (...written: string[]) => execFileSync('npm', written, { cwd: root, encoding: 'utf8', stdio: 'pipe' })
    npm('pack', '--ignore-scripts', '--pack-destination', folder)
    const listing = execFileSync('tar', ['-tvf', join(folder, `sluice-${version}.tgz`)], { encoding: 'utf8' })
    expect(listing).toMatch(/^-rwxr-xr-x.* package\/dist\/cli\.js$/m)
    expect(readFileSync(join(root, 'dist/cli.js'), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
    rmSync(folder, { recursive: true })
  })

  it.runIf(full)('is packed with all packages beside it by one command', () => {
    const words = ['pack', '--dry-run', '--json', '--ignore-scripts', '--workspaces', '--include-workspace-root']
    const packed = JSON.parse(execFileSync('npm', words, { cwd: root, encoding: 'utf8', stdio: 'pipe' })) as object
    const names = Object.values(packed).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['sluice', 'sluice-receiver', 'sluice-tools', 'sluice-opentelemetry']))
  })
})
