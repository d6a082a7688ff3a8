import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ampleTime, listenTo, runningOf } from '../support/programs.js'
import { inheritedVariables, Project, pack } from '../support/project.js'
import { startTestReceiver } from '../support/receiver.js'

const tools = new Project()
const application = readFileSync(join(import.meta.dirname, '../fixtures/package-manager.mjs'), 'utf8')
let tarball: string
let registry: string
beforeAll(async () => {
  await tools.install('pnpm@10.34.8', '@yarnpkg/cli-dist@4.18.1')
  tarball = (await pack('.', tools.folder)).tarball
  registry = (await tools.npm('config', 'get', 'registry')).stdout.trim()
})
afterAll(() => tools.remove())

const managers = {
  'pnpm, with its strict node_modules': { install: 'pnpm install --no-frozen-lockfile', start: 'node app.mjs' },
  'yarn, with Plug’n’Play': { install: 'yarn install', start: 'yarn node app.mjs' },
}

describe('Sluice, installed by another package manager', () => {
  it.each(Object.entries(managers))('delivers all records before SIGTERM: %s', async (_, { install, start }) => {
    const dependencies = { pino: '10.4.0', winston: '3.19.0', sluice: `file:${tarball}` }
    const project = new Project({ type: 'module', dependencies })
    onTestFinished(() => project.remove())
    project.write('app.mjs', application)
    project.write('yarn.lock', '')
    const receiver = await startTestReceiver()
    onTestFinished(() => receiver.close())
    const bin = join(tools.folder, 'node_modules/.bin')
    const variables = {
      ...inheritedVariables(),
      ...receiver.variables,
      ...ampleTime,
      PATH: `${bin}:${process.env.PATH}`,
      YARN_NPM_REGISTRY_SERVER: registry,
      YARN_ENABLE_GLOBAL_CACHE: 'false',
      YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
      YARN_ENABLE_TELEMETRY: '0',
    }
    expect(await project.run('/bin/sh', ['-c', install], variables)).toMatchObject({ code: 0 })
    const child = spawn('/bin/sh', ['-c', `exec ${start}`], {
      cwd: project.folder,
      env: variables,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const running = runningOf(child)
    await listenTo(running.process.stdout)('logged')
    child.kill('SIGTERM')
    const { stderr } = await running.ended
    expect(stderr).not.toContain('sluice:')
    expect((await receiver.logs()).map(({ message }) => message).sort()).toEqual([
      'by stream',
      'by target',
      'by winston',
    ])
    expect(await receiver.values()).toHaveLength(1)
  })
})
