import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { full } from '../../../test/support/full.js'
import { version } from '../dist/version.js'
import { dataFolder } from './data-folder.js'
import { failure, killAll, ready, refusal } from './processes.js'

const data = dataFolder()
afterEach(killAll)

describe('sluice-receiver on a port that is taken', () => {
  it('says that a receiver already runs there, with its version', async () => {
    const { url } = await ready('--data', ':memory:')
    const { port } = new URL(url)
    const remedy = 'use it, or choose another port with --port'
    const expected = `sluice-receiver: a receiver already runs at ${url} (version ${version}): ${remedy}\n`
    expect(await failure('--port', port, '--data', ':memory:')).toBe(expected)
    expect(await failure('--port', port, '--data', data.file('of-its-own'))).toBe(expected)
  })

  it.runIf(full)('says so of a receiver with TLS, too', async () => {
    const certificates = join(import.meta.dirname, '../../../test/support/certificates')
    const tls = ['--tls-cert', join(certificates, 'service.pem'), '--tls-key', join(certificates, 'key.pem')]
    const { url } = await ready('--data', ':memory:', ...tls)
    expect(url).toMatch(/^https:/)
    expect(await failure('--port', new URL(url).port, '--data', ':memory:')).toContain(
      `a receiver already runs at ${url} (version ${version})`,
    )
  })

  it.runIf(full)('says that another program listens there: one that answers, and one that never does', async () => {
    const silent = createServer()
    const sockets: Socket[] = []
    silent.on('connection', (socket) => sockets.push(socket))
    const other = createHttpServer((_request, response) => response.end('{"status":"ok"}'))
    for (const server of [silent, other]) {
      server.listen(0, '127.0.0.1')
      onTestFinished(() => {
        for (const socket of sockets) socket.destroy()
        server.close()
      })
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      expect(await failure('--port', String(port), '--data', ':memory:')).toBe(
        `sluice-receiver: another program listens on 127.0.0.1:${port}; choose another port with --port\n`,
      )
    }
  })

  it.runIf(full)('with the data folder of the receiver that runs there says both', async () => {
    const { url } = await ready('--data', data.path)
    const stderr = await failure('--port', new URL(url).port, '--data', data.path)
    expect(stderr).toMatch(/^sluice-receiver: another receiver \(process \d+\) uses the data folder /)
    expect(stderr).toContain(`; a receiver already runs at ${url} (version ${version})\n`)
  })
})

describe('the data folder', () => {
  it('is left out by git where the receiver makes it, and a folder that exists stays as it is', async () => {
    const made = data.file('above/made')
    const { child, exit } = await ready('--data', made)
    child.kill('SIGTERM')
    await exit
    expect(readFileSync(join(made, '.gitignore'), 'utf8')).toBe('*\n')
    expect(existsSync(data.file('above/.gitignore'))).toBe(false)
    const own = data.file('own')
    await mkdir(own)
    await ready('--data', own)
    expect(existsSync(join(own, '.gitignore'))).toBe(false)
  })
})

describe('an unknown word of the command line', () => {
  it.runIf(full).each([
    [['--prot', '1'], 'unknown option --prot; did you mean --port?'],
    [['--jsno'], 'did you mean --json?'],
    [['keys', 'list', '--dta', 'x'], 'unknown option --dta; did you mean --data?'],
    [['keys', 'add', '--scop', 'read'], 'unknown option --scop; did you mean --scope?'],
    [['keys', 'lst'], 'keys: expected add, list or revoke, got "lst"; did you mean keys list?'],
    [['lgos'], 'unknown command lgos; did you mean logs?'],
    [['doctor'], 'doctor is in sluice: npx sluice doctor'],
    [['--port'], '--port: expected a value, got none'],
    [['key', 'list'], 'unknown command key; did you mean keys?'],
    [['--colour'], 'unknown option --colour; see sluice-receiver --help'],
    [['keys', 'list', '--port', '1'], 'unknown option --port; see sluice-receiver keys list --help'],
  ])('in %j gets the name that looks most like it: %s', async (args, words) => {
    const stderr = await refusal(...args)
    expect(stderr).toMatch(/^sluice-receiver: [^\n]+\n$/)
    expect(stderr).toContain(words)
  })
})
