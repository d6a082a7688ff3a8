import { cpSync, existsSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { full } from '../support/full.js'
import { Project } from '../support/project.js'

const root = join(import.meta.dirname, '../..')
const hidden = 'node_modules/.package-lock.json'
/** Stands for npm: writes down how it was called, and installs the tool of the project unless it is to omit it. */
const npm = `
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
const [command, ...options] = process.argv.slice(2)
appendFileSync('calls', [command, ...options].join(' ') + '\\n')
if (process.env.FAIL) { console.log('a line on stdout'); console.error('no network'); process.exit(7) }
if (process.env.OLD_CACHE && options.includes('--prefer-offline')) { console.error('npm error code ETARGET'); process.exit(1) }
rmSync('node_modules', { recursive: true, force: true })
mkdirSync('node_modules/tool', { recursive: true })
writeFileSync('node_modules/.package-lock.json', '{}')
if (options.includes('--omit=dev')) rmSync('node_modules/tool', { recursive: true })
else writeFileSync('node_modules/tool/package.json', '{}')
`

describe('tools/install.js', () => {
  let project: Project
  beforeEach(() => {
    project = new Project({ type: 'module', devDependencies: { tool: '*' } })
    project.write('package-lock.json', '{}')
    project.write('npm.js', npm)
    for (const script of ['install.js', 'step.js']) {
      cpSync(join(root, 'tools', script), join(project.folder, 'tools', script))
    }
  })
  afterEach(() => project.remove())

  const install = (words: readonly string[] = [], variables: Readonly<Record<string, string>> = {}) =>
    project.run(process.execPath, ['tools/install.js', ...words], {
      npm_execpath: join(project.folder, 'npm.js'),
      ...variables,
    })
  const calls = (folder = '.') =>
    existsSync(join(project.folder, folder, 'calls')) ? project.read(`${folder}/calls`).trim().split('\n') : []
  const hasTool = () => existsSync(join(project.folder, 'node_modules/tool'))
  /** The lock file becomes newer than what is installed. */
  const lockAgain = () => {
    const [installed, locked] = [new Date(2026, 0, 1), new Date(2026, 0, 2)]
    utimesSync(join(project.folder, hidden), installed, installed)
    utimesSync(join(project.folder, 'package-lock.json'), locked, locked)
  }

  it('installs everything once, and says so on stderr', async () => {
    expect(await install()).toEqual({ code: 0, stdout: '', stderr: 'Installing the dependencies (npm ci) …\n' })
    expect(await install()).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(calls()).toEqual(['ci --ignore-scripts --loglevel=error --prefer-offline'])
  })

  it('leaves the development dependencies out for the demo, and adds them for whatever comes after it', async () => {
    const stderr = 'Installing the dependencies (npm ci --omit=dev) …\n'
    expect(await install(['--omit=dev'])).toEqual({ code: 0, stdout: '', stderr })
    expect(await install(['--omit=dev'])).toMatchObject({ stderr: '' })
    expect(hasTool()).toBe(false)
    expect(await install()).toMatchObject({ stderr: 'Installing the dependencies (npm ci) …\n' })
    expect(await install(['--omit=dev'])).toMatchObject({ stderr: '' })
    expect(hasTool()).toBe(true)
    expect(calls()).toEqual([
      'ci --omit=dev --ignore-scripts --loglevel=error --prefer-offline',
      'ci --ignore-scripts --loglevel=error --prefer-offline',
    ])
  })

  it.runIf(full).each([
    ['everything again where everything was installed', [], 'ci --ignore-scripts --loglevel=error --prefer-offline'],
    [
      'less where less was installed',
      ['--omit=dev'],
      'ci --omit=dev --ignore-scripts --loglevel=error --prefer-offline',
    ],
  ])('installs %s before a new lock file came', async (_, before, call) => {
    await install(before)
    lockAgain()
    await install(['--omit=dev'])
    expect(calls()).toEqual([call, call])
  })

  it.runIf(full)('installs everything again after an installation that broke off', async () => {
    await install()
    project.write('node_modules/.package-lock.json', '')
    utimesSync(join(project.folder, hidden), new Date(0), new Date(0))
    await install()
    expect(calls()).toHaveLength(2)
  })

  it.runIf(full)('installs the folders that it is given, after the root', async () => {
    project.write('benchmarks/package.json', '{}')
    project.write('benchmarks/package-lock.json', '{}')
    const { stderr } = await install(['benchmarks'])
    expect(stderr).toBe(
      'Installing the dependencies (npm ci) …\nInstalling the dependencies (npm ci) in benchmarks/ …\n',
    )
    expect(calls('benchmarks')).toEqual(['ci --ignore-scripts --loglevel=error --prefer-offline'])
  })

  it.runIf(full)('asks the registry where the cache of npm is older than the lock file', async () => {
    const stderr = 'Installing the dependencies (npm ci) …\n'
    expect(await install([], { OLD_CACHE: '1' })).toEqual({ code: 0, stdout: '', stderr })
    expect(calls()).toEqual([
      'ci --ignore-scripts --loglevel=error --prefer-offline',
      'ci --ignore-scripts --loglevel=error',
    ])
  })

  it.runIf(full)('ends with the status of npm, and prints what npm said', async () => {
    const { code, stderr } = await install([], { FAIL: '1' })
    expect(code).toBe(7)
    expect(stderr).toBe('Installing the dependencies (npm ci) …\na line on stdout\nno network\nnpm ci failed\n')
  })
})
