import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { ExampleServer } from '../support/example-server.js'
import { placeOrders, sorted, upTo } from '../support/framework-course.js'
import { FrameworkExample } from '../support/framework-example.js'
import { gateTo } from '../support/gate.js'
import { startTestReceiver } from '../support/receiver.js'

let example: FrameworkExample
beforeAll(async () => {
  example = await FrameworkExample.install('pm2')
})
afterAll(() => example.remove())

/** A folder for pm2. Its daemon ends with the test. */
function pm2Home(): string {
  const PM2_HOME = mkdtempSync(join(tmpdir(), 'sluice-pm2-'))
  onTestFinished(async () => {
    const number = join(PM2_HOME, 'pm2.pid')
    const daemon = existsSync(number) ? Number(readFileSync(number, 'utf8')) : undefined
    await example.project.run('node_modules/.bin/pm2', ['kill'], { PM2_HOME })
    try {
      if (daemon !== undefined) process.kill(daemon, 'SIGKILL')
    } catch {
      // It has ended.
    }
    rmSync(PM2_HOME, { recursive: true, force: true })
  })
  return PM2_HOME
}

it('pm2 loses no line and delivers none twice when it reloads and stops the two processes of the example pm2', async () => {
  const receiver = await startTestReceiver()
  onTestFinished(() => receiver.close())
  const gate = await gateTo(receiver.url)
  const PM2_HOME = pm2Home()
  const variables = { ...receiver.variables, PM2_HOME, SLUICE_URL: gate.url }
  const server = await ExampleServer.listening((PORT) => example.start('start', { ...variables, PORT }))
  expect(await server.ended).toMatchObject({ code: 0 })
  const messages = async () => (await receiver.logs()).map(({ message }) => message)

  await placeOrders(server, { from: 1, to: 20 })
  expect(await messages()).toEqual([])
  let reloaded = false
  const reload = example.runScript('reload', { PM2_HOME }).finally(() => {
    reloaded = true
  })
  let last = 20
  while (!reloaded) {
    last += 1
    await placeOrders(server, { from: last, to: last })
    if (last === 30) gate.open()
  }
  gate.open()
  await reload
  expect(await messages()).toEqual(expect.arrayContaining(['no more orders']))

  gate.shut()
  await placeOrders(server, { from: last + 1, to: last + 20 })
  const stop = example.runScript('stop', { PM2_HOME })
  await server.untilRefused()
  gate.open()
  await stop
  const { orders, others } = sorted(await messages())
  expect(orders).toEqual(upTo(last + 20))
  expect(others).toEqual({ 'no more orders': 4 })
  expect(await receiver.values()).toHaveLength(last + 20)
  const listed = await example.project.run('node_modules/.bin/pm2', ['jlist'], { PM2_HOME })
  const processes = JSON.parse(listed.stdout) as { pm2_env: { status: string; exit_code: number } }[]
  const ends = processes.map(({ pm2_env }) => `${pm2_env.status} ${pm2_env.exit_code}`)
  expect(ends).toEqual(['stopped 0', 'stopped 0'])
})
