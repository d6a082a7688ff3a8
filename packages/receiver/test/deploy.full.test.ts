import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { full } from '../../../test/support/full.js'
import { Project } from '../../../test/support/project.js'
import { optionNames, variableOf } from '../dist/options/option-table.js'

const root = join(import.meta.dirname, '../../..')
const known = new Set<string>(optionNames.map(variableOf))

interface Instruction {
  readonly name: string
  readonly text: string
}

/** The instructions of each stage. */
const [build, runtime] = readFileSync(join(root, 'packages/receiver/deploy/Containerfile'), 'utf8')
  .replace(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split(/^(?=FROM )/m)
  .filter((stage) => stage.trim() !== '')
  .map((stage) =>
    [...stage.matchAll(/^([A-Z]+) +(.*)$/gm)].map(([, name, text]): Instruction => ({ name: name!, text: text! })),
  ) as [Instruction[], Instruction[]]

const textOf = (name: string) => runtime.find((instruction) => instruction.name === name)!.text
const runs = (stage: readonly Instruction[]) =>
  stage.filter(({ name }) => name === 'RUN').map(({ text }) => text.replace(/^--mount=\S+ +/, ''))
const environment = Object.fromEntries(
  textOf('ENV')
    .split(/ +/)
    .map((pair) => pair.split('=') as [string, string]),
)
const commandOf = (text: string) => JSON.parse(text.slice(text.indexOf('['))) as string[]
/** A user without rights, where this process may become one. */
const other = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

describe('the Containerfile of the receiver', () => {
  const project = new Project()
  /** A path of the image, in the folder of the test. */
  const here = (text: string) =>
    text
      .replaceAll('/packed', join(project.folder, 'packed'))
      .replaceAll('/opt/sluice', join(project.folder, 'sluice'))
      .replaceAll('/data', join(project.folder, 'data'))
  beforeAll(async () => {
    // The installation and the build have run here.
    const [install, make, pack, ...rest] = runs(build)
    expect([install, make, rest]).toEqual(['npm ci --ignore-scripts', 'npm run build', []])
    const [add] = runs(runtime)
    // A command runs here with the rights of the test: only such as write to the folder of the test.
    expect(pack).toMatch(/^mkdir \/packed && npm pack [^&|;]*--pack-destination \/packed$/)
    expect(add).toMatch(/^npm install --prefix \/opt\/sluice [^&|;]*$/)
    await inShell(pack!, root)
    mkdirSync(here('/opt/sluice'))
    await inShell(add!, here('/opt/sluice'))
    mkdirSync(here('/data'), { mode: 0o777 })
    for (const folder of ['/data', '/opt/sluice']) chmodSync(here(folder), 0o777)
    chmodSync(project.folder, 0o755)
  }, 240_000)
  afterAll(() => project.remove())

  /** Runs a command of the Containerfile. */
  async function inShell(command: string, folder: string): Promise<void> {
    const { code, stderr } = await project.run('sh', ['-c', `cd '${folder}' && ${here(command)}`])
    expect({ code, stderr }).toEqual({ code: 0, stderr: code === 0 ? stderr : '' })
  }

  it.runIf(full)('installs the two packages as they were packed, and nothing of the development', () => {
    const { dependencies } = JSON.parse(project.read('sluice/package.json'))
    expect(Object.keys(dependencies).sort()).toEqual(['sluice', 'sluice-receiver'])
    const { packages } = JSON.parse(project.read('sluice/node_modules/.package-lock.json'))
    expect(Object.keys(packages)).not.toEqual(expect.arrayContaining([expect.stringMatching(/typescript$|vitest$/)]))
  })

  it.runIf(full)('starts a receiver without rights, which is healthy until SIGTERM ends it in order', async () => {
    const [command, ...written] = commandOf(here(textOf('ENTRYPOINT')))
    const variables = { ...environment, SLUICE_RECEIVER_DATA: here('/data'), SLUICE_RECEIVER_PORT: '0' }
    const env = { PATH: process.env.PATH, ...variables, SLUICE_RECEIVER_JSON: '1' }
    const child = spawn(command!, written, { env, ...other, cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] })
    const ended = once(child, 'exit')
    const [line] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])
    const { url, apiKey } = JSON.parse(line) as { url: string; apiKey: string | null }
    expect(apiKey).not.toBeNull()
    const health = () => {
      const [program, ...rest] = commandOf(textOf('HEALTHCHECK'))
      const checked = { PATH: process.env.PATH, SLUICE_RECEIVER_PORT: new URL(url).port }
      return spawnSync(program!, rest, { env: checked, ...other, cwd: '/' }).status
    }
    expect(health()).toBe(0)
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    expect(health()).toBe(1)
  })

  it('sets known variables, exposes the port that it sets, and does not run as root', () => {
    const own = Object.keys(environment).filter((name) => name.startsWith('SLUICE_'))
    expect(own.filter((name) => !known.has(name))).toEqual([])
    expect(textOf('EXPOSE')).toBe(environment.SLUICE_RECEIVER_PORT)
    expect(textOf('VOLUME')).toBe(environment.SLUICE_RECEIVER_DATA)
    expect(textOf('USER')).toBe('node')
  })
})

interface Service {
  readonly build?: { readonly context: string; readonly dockerfile: string }
  readonly environment: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly volumes?: readonly string[]
}

describe('the compose file', () => {
  const { services, volumes } = parse(readFileSync(join(root, 'packages/receiver/deploy/compose.yaml'), 'utf8'), {
    merge: true,
  }) as {
    services: Record<string, Service>
    volumes: Record<string, unknown>
  }
  const { postgres, ...receivers } = services

  it('has two receivers with known variables, each on a port of loopback', () => {
    expect(Object.keys(receivers)).toHaveLength(2)
    for (const { build, environment: set } of Object.values(receivers)) {
      expect(build).toEqual({ context: '../../..', dockerfile: 'packages/receiver/deploy/Containerfile' })
      expect(Object.keys(set).filter((name) => !known.has(name))).toEqual([])
      expect(set.SLUICE_DATABASE).toMatch(/^postgres:\/\/sluice:\$\{POSTGRES_PASSWORD\}@postgres:5432\/sluice$/)
    }
    const ports = Object.values(receivers).flatMap(({ ports }) => ports)
    expect(ports).toEqual([18_401, 18_402].map((port) => `127.0.0.1:${port}:${textOf('EXPOSE')}`))
  })

  it('starts each service when the one that it needs is healthy', () => {
    const needs = Object.values(services).flatMap((service) => Object.entries(service.depends_on ?? {}))
    expect(needs).toEqual([
      ['postgres', { condition: 'service_healthy' }],
      ['receiver-1', { condition: 'service_healthy' }],
    ])
    expect(postgres!.healthcheck!.test).toContain('pg_isready')
  })

  it('has no password in it, and keeps the records', () => {
    expect(postgres!.environment.POSTGRES_PASSWORD).toMatch(/^\$\{POSTGRES_PASSWORD:\?/)
    expect(postgres!.volumes!.map((volume) => volume.split(':')[0])).toEqual(Object.keys(volumes))
  })
})
