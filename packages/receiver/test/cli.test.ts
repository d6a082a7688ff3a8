import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { full, rowsOf } from '../../../test/support/full.js'
import { dataFolder } from './data-folder.js'
import { cli, failure, killAll, quiet, ready, refusal, start } from './processes.js'
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

/** What a receiver prints until it is stopped. */
async function greetingIn(folder: string, ...args: string[]): Promise<string> {
  const words = [quiet, cli, '--port', '0', ...(args.length === 0 ? ['--data', ':memory:'] : args)]
  const child = spawn(process.execPath, words, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  for await (const piece of child.stdout) {
    if (text === '') child.kill('SIGTERM')
    text += piece
  }
  return text
}

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

  it('shows the code for the loggers of the package here, and no more', async () => {
    const pino = "const logger = pino({ transport: { target: 'sluice/pino' } })"
    const winston = 'const logger = winston.createLogger({ transports: [new SluiceTransport()] })'
    const all = [pino, winston, 'track(1001)', 'npm install']
    for (const [text, shown] of rowsOf<[string, string[]]>(
      [
        ['{ "dependencies": { "pino": "10", "sluice": "0.1.0" } }', [pino, 'track(1001)']],
        [
          '{ "dependencies": { "winston": "3" }, "devDependencies": { "pino": "10" } }',
          [winston, 'track(1001)', 'npm install sluice:'],
        ],
        ['{ "dependencies": { "winston": "3", "pino": "10" } }', [pino, winston, 'track(1001)', 'npm install sluice:']],
        ['{}', [pino, 'track(1001)', 'npm install sluice pino:']],
        ['[', [pino, 'track(1001)', 'npm install sluice pino:']],
      ],
      ([, words]) => words[0] === winston,
    )) {
      await writeFile(data.file('package.json'), text)
      const greeting = await greetingIn(data.file('.'))
      expect(greeting.split('SLUICE_BUCKET=demo\n')[1]).toMatch(/^\nAnd this into your code/)
      expect(
        all.filter((words) => greeting.includes(words)),
        text,
      ).toEqual(all.filter((words) => shown.some((each) => each.startsWith(words))))
      for (const words of shown) expect(greeting).toContain(words)
      expect(greeting.split('And this into your code')[0]).not.toContain('import')
    }
  })

  it.runIf(full)('shows no code where there is no new key', async () => {
    expect(await greetingIn(data.path, '--data', data.path)).toContain('And this into your code')
    expect(await greetingIn(data.path, '--data', data.path)).toMatch(/Lost the key\?.*\n$/)
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
    [['--page-host', 'http://x/'], '--page-host'],
  ])('says in one line what is wrong with %j', async (args, named) => {
    const stderr = await refusal(...args)
    expect(stderr).toMatch(/^sluice-receiver: [^\n]+\n$/)
    expect(stderr).toContain(named)
  })

  it.runIf(full).each([
    [['--events', 'nowhere.json', '--data', ':memory:'], 'nowhere.json'],
    [['--events', cli, '--data', ':memory:'], cli],
    [['--tls-cert', 'nowhere.pem', '--tls-key', 'nowhere.pem', '--data', ':memory:'], 'nowhere.pem'],
    [['--tls-cert', cli, '--tls-key', cli, '--data', ':memory:'], 'certificate'],
  ])('says in one line which file it cannot use with %j', async (args, named) => {
    const stderr = await failure(...args)
    expect(stderr).toMatch(/^sluice-receiver: [^\n]+\n$/)
    expect(stderr).toContain(named)
  })
})
