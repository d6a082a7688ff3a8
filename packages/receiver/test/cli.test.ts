import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { full } from '../../../test/support/full.js'
import { dataFolder } from './data-folder.js'
import { cli, failure, killAll, ready, start } from './processes.js'
import { connected } from './sockets.js'
import { caller, log } from './support.js'

const data = dataFolder()
afterEach(killAll)

describe('sluice-receiver --json', () => {
  it('prints exactly one line when it is ready, and stops gracefully on SIGTERM', async () => {
    const { child, exit, lines, url, project, apiKey, page } = await ready('--data', ':memory:')
    expect(lines).toEqual([`{"url":"${url}","project":"demo","apiKey":"${apiKey}","page":"${page}"}`])
    expect(page).toMatch(new RegExp(`^${url}/\\?token=[\\w-]{43}$`))
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect((await caller({ url, apiKey })('POST', `/logs/${project}`, log)).status).toBe(201)
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
  })

  it.runIf(full)('shows the key at the first start only, keeps its hash, and mints another when asked', async () => {
    const first = await ready('--data', data.path)
    expect(first.apiKey).toMatch(/^\S{30,}$/)
    await caller(first)('POST', '/logs/demo', log)
    first.child.kill('SIGTERM')
    await first.exit
    expect(readFileSync(data.file('receiver.sqlite')).includes(first.apiKey!)).toBe(false)

    const second = await ready('--data', data.path)
    expect(second.apiKey).toBeNull()
    expect((await caller({ ...first, url: second.url })('GET', '/api/logs/demo')).body.total).toBe(1)
    second.child.kill('SIGTERM')
    await second.exit

    const third = await ready('--data', data.path, '--new-key')
    expect(third.apiKey).not.toBe(first.apiKey)
    for (const apiKey of [first.apiKey, third.apiKey]) {
      expect((await caller({ url: third.url, apiKey })('GET', '/api/logs/demo')).status).toBe(200)
    }
  })

  it.runIf(full)('stops within seconds while a client holds half a request', async () => {
    const { child, exit, url } = await ready('--data', ':memory:')
    const client = await connected(url)
    client.on('error', () => {})
    await new Promise<void>((resolve) => client.write('POST /logs/demo HTTP/1.1\r\nhost: x\r\n', () => resolve()))
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
    client.destroy()
  })

  it.runIf(full)('names an address that a client can reach when it listens on all', async () => {
    const { url, page } = await ready('--data', ':memory:', '--host', '0.0.0.0')
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(page).toMatch(/^http:\/\/localhost:\d+\/\?token=/)
  })
})

describe('sluice-receiver for a person', () => {
  it('greets with the address, the key and a snippet to paste', async () => {
    const { child } = start('--port', '0', '--data', ':memory:')
    let greeting = ''
    for await (const chunk of child.stdout) {
      greeting += chunk
      if (greeting.includes('SLUICE_BUCKET')) break
    }
    const key = /\n {2}(slk_\S+)\n/.exec(greeting)![1]
    expect(greeting).toMatch(/^sluice-receiver is ready at http:\/\/127\.0\.0\.1:\d+ /)
    expect(greeting).toMatch(/: http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}\n/)
    expect(greeting).toContain(`export SLUICE_API_KEY=${key}\n`)
    expect(greeting).toContain('export SLUICE_BUCKET=demo\n')
  })

  it.runIf(full)('says in one line that a data folder cannot be used', async () => {
    const stderr = await failure('--port', '0', '--data', join(cli, 'below-a-file'))
    expect(stderr).toMatch(/^sluice-receiver: cannot use the data folder [^\n]+\n$/)
  })

  it.runIf(full && process.platform === 'linux')(
    'does not look for a data folder for ever where none can be made',
    async () => {
      const stderr = await failure('--port', '0', '--data', '/proc/nowhere/below')
      expect(stderr).toMatch(/^sluice-receiver: cannot use the data folder [^\n]+\n$/)
    },
  )

  it.runIf(full).each([
    [['--colour', 'red'], '--colour'],
    [['--port', 'many'], '--port'],
    [['--port', '70000'], '--port'],
    [['--port'], '--port'],
    [['--port', '-1'], '--port'],
    [['extra'], 'extra'],
    [['--tls-cert', 'cert.pem'], '--tls-key'],
    [['--tls-key', ''], '--tls-key'],
    [['--page-host', ''], '--page-host'],
    [['--events', ''], '--events'],
    [['--events', 'nowhere.json', '--data', ':memory:'], 'nowhere.json'],
    [['--events', cli, '--data', ':memory:'], cli],
    [['--page-host', 'http://x/'], '--page-host'],
    [['--tls-cert', 'nowhere.pem', '--tls-key', 'nowhere.pem', '--data', ':memory:'], 'nowhere.pem'],
    [['--tls-cert', cli, '--tls-key', cli, '--data', ':memory:'], 'certificate'],
  ])('says in one line what is wrong with %j', async (args, named) => {
    const stderr = await failure(...args)
    expect(stderr).toMatch(/^sluice-receiver: [^\n]+\n$/)
    expect(stderr).toContain(named)
  })
})
