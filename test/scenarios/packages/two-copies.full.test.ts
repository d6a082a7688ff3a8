import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Project, pack } from '../../support/project.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

/** An application that logs with winston, and a package with a Sluice of its own that tracks. */
const application = `
import { createRequire } from 'node:module'
import { flush } from 'sluice'
import { SluiceTransport } from 'sluice/winston'
import { bought, own } from 'shop-events'
import winston from 'winston'

const logger = winston.createLogger({ transports: [new SluiceTransport()] })
for (let number = 0; number < 50; number++) {
  logger.info('line ' + number)
  bought()
}
const copies = new Set([createRequire(import.meta.url).resolve('sluice'), own]).size
const listeners = ['SIGTERM', 'SIGINT'].map((signal) => process.listenerCount(signal))
process.stdout.write(JSON.stringify({ copies, listeners }) + '\\n')
if (process.env.END === 'SIGTERM') {
  setInterval(() => {}, 60_000)
  process.kill(process.pid, 'SIGTERM')
} else if (process.env.END === 'flush') {
  const { accepted, delivered } = await flush()
  process.stdout.write(JSON.stringify({ accepted, delivered }) + '\\n', () => process.kill(process.pid, 'SIGKILL'))
}
`
const library = `
import { createRequire } from 'node:module'
import { track } from 'sluice'
export const own = createRequire(import.meta.url).resolve('sluice')
export const bought = () => track(1001)
`

let tarballs: Project
let events: Project
let project: Project
let receiver: TestReceiver
beforeAll(async () => {
  tarballs = new Project()
  const { tarball } = await pack('.', tarballs.folder)
  events = new Project({ name: 'shop-events', version: '1.0.0', type: 'module', exports: './index.js' })
  events.write('index.js', library)
  await events.install(tarball)
  project = new Project({ type: 'module' })
  project.write('app.js', application)
  await project.install(tarball, 'winston', realpathSync(events.folder))
  receiver = await startTestReceiver()
}, 180_000)
afterAll(async () => {
  await receiver.close()
  for (const each of [tarballs, events, project]) each.remove()
})

const run = (end: string, changes: Record<string, string> = {}) =>
  project.run(process.execPath, [join(project.folder, 'app.js')], { ...receiver.variables, ...changes, END: end })
const two = `${JSON.stringify({ copies: 2, listeners: [1, 1] })}\n`

describe('two copies of the package in one process', () => {
  it.each(['itself', 'SIGTERM'])('deliver all before it ends by %s, with one listener for each signal', async (end) => {
    const before = [await receiver.logs(), await receiver.values()].map(({ length }) => length)
    const ended = await run(end)
    expect(ended).toEqual({ code: end === 'SIGTERM' ? null : 0, stdout: two, stderr: '' })
    const after = [await receiver.logs(), await receiver.values()].map(({ length }) => length)
    expect(after.map((count, index) => count - before[index]!)).toEqual([50, 50])
  })

  it('are both waited for by the flush of one', async () => {
    const ended = await run('flush')
    expect(ended).toEqual({
      ...{ code: null, stderr: '' },
      stdout: `${two}${JSON.stringify({ accepted: 100, delivered: 100 })}\n`,
    })
  })

  it.each([
    ['off', { SLUICE_URL: '', SLUICE_API_KEY: '', SLUICE_BUCKET: '' }, /^sluice: off: set SLUICE_URL/],
    [
      'where nothing listens',
      { SLUICE_URL: 'http://127.0.0.1:1' },
      /^sluice: nothing listens at http:\/\/127\.0\.0\.1:1/,
    ],
  ])('say once that they are %s', async (_, changes, line) => {
    const { code, stderr } = await run('itself', changes)
    expect(code).toBe(0)
    const lines = stderr.trim().split('\n')
    expect(lines[0]).toMatch(line)
    expect(lines.slice(1).join()).toMatch(/^(|sluice: 100 records not delivered before the end of the process; .*)$/)
  })
})
