import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { dataFolder } from '../data-folder.js'
import { cli, killAll, quiet, ready } from '../processes.js'
import { caller, log, value } from '../support.js'

const data = dataFolder()
afterEach(killAll)

/** Runs a command in the folder above the data, without variables of a service. */
async function run(...args: string[]) {
  const { SLUICE_URL: _, SLUICE_API_KEY: __, SLUICE_BUCKET: ___, ...env } = process.env
  const child = spawn(process.execPath, [quiet, cli, ...args], { cwd: data.path, env })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code, stdout, stderr }
}

const place = () => data.file('sluice-data')

async function started() {
  const receiver = await ready('--data', place())
  return { ...receiver, call: caller(receiver) }
}

describe('without SLUICE_URL', () => {
  it('logs and values read from the receiver that runs on ./sluice-data, or from the folder where none runs', async () => {
    const { child, exit, call } = await started()
    await call('POST', '/logs/demo', log)
    await call('POST', '/value_tracking/demo', value)
    const looks = async () => {
      expect(await run('logs')).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining(' shop hello\n') })
      const { stdout, code } = await run('values', '--json', '--data', 'sluice-data')
      expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, ok: true, total: 1 })
    }
    await looks()
    child.kill('SIGTERM')
    await exit
    await looks()
    expect((await run('keys', 'list', '--json')).stdout.trim().split('\n')).toHaveLength(1)
  })

  it('they say where no receiver runs, and make no folder; page does, too', async () => {
    const words =
      'no receiver runs on ./sluice-data (there is no such folder: sluice-data): start one with npx sluice-receiver'
    for (const name of ['logs', 'values']) {
      expect(await run(name)).toMatchObject({ code: 2, stderr: expect.stringContaining(words) })
    }
    expect(await run('page')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(words) })
    const { child, exit } = await started()
    expect(await run('page')).toMatchObject({ code: 0, stderr: '' })
    child.kill('SIGTERM')
    await exit
    expect(await run('page')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'sluice-receiver: page: no receiver runs on ./sluice-data: start one with npx sluice-receiver\n',
    })
    const { code, stdout } = await run('logs', '--follow', '--json')
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({
      code: 1,
      ok: false,
      error: expect.stringContaining('no receiver runs on ./sluice-data (connect ECONNREFUSED'),
    })
  })
})
