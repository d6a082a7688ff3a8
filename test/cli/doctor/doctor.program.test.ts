import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startReceiver } from 'sluice-receiver'
import { describe, expect, it, onTestFinished } from 'vitest'
import { nodeFiles } from '../../../src/runtime/files.js'
import { LaneFolder } from '../../../src/spool/lane-folder.js'
import { machineLocks } from '../../../src/spool/lock.js'
import { FaultServer } from '../../support/fault-server.js'
import { full, rowsOf } from '../../support/full.js'
import { startProgram } from '../../support/programs.js'
import { startProxy } from '../../support/proxy.js'
import { startTestReceiver } from '../../support/receiver.js'

const start = (variables: Record<string, string>, written: readonly string[], flags: readonly string[] = []) =>
  startProgram('../../dist/cli.js', { arguments: ['doctor', ...written], variables, flags }).ended

interface Seen {
  readonly code: number | null
  readonly ok: boolean
  readonly options: readonly { readonly name: string; readonly value: unknown; readonly source: string }[]
  /** State, text and advice of each check, by its name. */
  readonly looks: Readonly<Record<string, string>>
}

async function examine(variables: Record<string, string>, ...written: string[]): Promise<Seen> {
  const { code, stdout, stderr } = await start(variables, ['--json', ...written])
  expect(stderr).toBe('')
  const { ok, options, checks } = JSON.parse(stdout)
  const looks = checks.map(({ check, state, text, advice = '' }: Record<string, string>) => [
    check,
    `${state}: ${text} → ${advice}`,
  ])
  return { code, ok, options, looks: Object.fromEntries(looks) }
}

const receiverHere = async () => {
  const receiver = await startTestReceiver()
  onTestFinished(() => receiver.close())
  return receiver
}
const serverHere = async (...plan: Parameters<typeof FaultServer.start>) => {
  const server = await FaultServer.start(...plan)
  onTestFinished(() => server.close())
  return server
}

/** The folder of a lane that a process without a lock has left. */
function leftFolder(dir: string, { SLUICE_URL: url = '', SLUICE_BUCKET: bucket = '' }: Record<string, string>): string {
  const plan = { dir, url, lane: { kind: 'logs', bucket }, sync: false, files: nodeFiles, locks: machineLocks } as const
  const { path } = LaneFolder.make(plan)
  rmSync(join(path, 'lock-1'))
  return path
}

const certificates = join(import.meta.dirname, '../../support/certificates')

describe('sluice doctor', () => {
  it('sends one log and one value, and finds no problem with a working service', async () => {
    const receiver = await receiverHere()
    const { code, ok, looks, options } = await examine(receiver.variables)
    expect(looks).toMatchObject({
      configuration: expect.stringMatching(/^good/),
      connection: expect.stringMatching(/^good: to 127\.0\.0\.1:/),
      clock: expect.stringMatching(/^good: agrees/),
      receiver: expect.stringMatching(/^good: sluice-receiver \S+ runs at http:/),
      'log record': `good: a log record of level warn, "sluice doctor: a test", was written to bucket demo of ${receiver.url} → `,
      'value record': `good: a value record, event 0, was written to bucket demo of ${receiver.url} → `,
      sender: expect.stringMatching(/^good: pipelined.*logs up to 256 at once.*values up to 256 at once/),
      spool: expect.stringMatching(/^skipped: off/),
      worker: expect.stringMatching(/^good: answers/),
    })
    expect({ code, ok }).toEqual({ code: 0, ok: true })
    expect(options).toContainEqual({ name: 'logBucket', value: 'demo', source: 'SLUICE_BUCKET' })
    expect(options).toContainEqual({ name: 'apiKey', value: '[redacted]', source: 'SLUICE_API_KEY' })
    expect(options).toContainEqual({ name: 'maxConnections', value: 64, source: 'default' })
    expect(options).toContainEqual({ name: 'spoolDir', value: null, source: 'default' })
    expect(await receiver.logs()).toMatchObject([{ level: 'warn', message: 'sluice doctor: a test' }])
    expect(await receiver.values()).toMatchObject([{ eventId: 0 }])
  })

  it.runIf(full)('says in which unit times are sent, and what sets the other one', async () => {
    const { variables } = await receiverHere()
    const said = async (unit: string) =>
      (await examine({ ...variables, SLUICE_TIMESTAMP_UNIT: unit }, '--no-send')).looks['time stamps']
    expect(await said('')).toMatch(/^good: in milliseconds, such as \d{13}; .* in seconds: SLUICE_TIMESTAMP_UNIT=s → $/)
    expect(await said('s')).toMatch(
      /^good: in seconds, such as \d{10}; .* in milliseconds: SLUICE_TIMESTAMP_UNIT=ms → $/,
    )
  })

  it.runIf(full)('sends nothing with --no-send', async () => {
    const receiver = await receiverHere()
    const { code, looks } = await examine(receiver.variables, '--no-send')
    expect({ code, records: looks.records }).toEqual({ code: 0, records: expect.stringMatching(/^skipped: none sent/) })
    expect([...(await receiver.logs()), ...(await receiver.values())]).toEqual([])
  })

  it('says what to set when nothing is configured', async () => {
    const { code, stdout } = await start({}, [])
    expect(code).toBe(1)
    expect(stdout).toContain('✗ configuration  nothing is configured')
    expect(stdout).toContain('→ set SLUICE_URL, SLUICE_API_KEY (or SLUICE_API_KEY_FILE) and SLUICE_BUCKET')
    expect(stdout).not.toContain('\x1b')
    expect(stdout).toContain('– receiver       none runs here: npx sluice-receiver starts one')
  })

  it('says where nothing is configured whether a receiver runs on ./sluice-data', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-doctor-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const receiver = await startReceiver({ port: 0, data: join(folder, 'sluice-data') })
    const look = async () =>
      (await startProgram('../../dist/cli.js', { arguments: ['doctor'], before: `cd '${folder}'` }).ended).stdout
    expect(await look()).toContain(
      `✓ receiver       one runs on ./sluice-data (process ${process.pid}): npx sluice-receiver run`,
    )
    await receiver.close()
    expect(await look()).toContain('– receiver       none runs on ./sluice-data: npx sluice-receiver starts one')
  })

  it.runIf(full).each<[Record<string, string>, string, string]>([
    [{ SLUICE_URL: 'ftp://x' }, 'configuration', 'bad: SLUICE_URL (option url): expected an http: or https: URL'],
    [{ SLUICE_URL: 'http://127.0.0.1:1' }, 'configuration', 'bad: options apiKey and bucket are missing'],
    [{ SLUICE_DISABLED: 'yes' }, 'configuration', 'bad: Sluice is disabled'],
    [{ SLUICE_BUKET: 'b' }, 'variables', 'bad: SLUICE_BUKET is not known → did you mean SLUICE_BUCKET?'],
  ])('finds in the variables %j the problem with the %s', async (variables, check, words) => {
    const { code, looks } = await examine(variables)
    expect(code).toBe(1)
    expect(looks[check]).toContain(words)
  })

  it.runIf(full)('shows the options of an incomplete configuration', async () => {
    const { code, options } = await examine({ SLUICE_API_KEY: 'a-key-that-is-there', SLUICE_BUCKET: 'b' })
    expect(code).toBe(1)
    expect(options).toEqual(
      expect.arrayContaining([
        { name: 'apiKey', value: '[redacted]', source: 'SLUICE_API_KEY' },
        { name: 'disabled', value: false, source: 'default' },
        { name: 'logBucket', value: 'b', source: 'SLUICE_BUCKET' },
        { name: 'url', value: null, source: 'default' },
      ]),
    )
    const { stdout } = await start({ SLUICE_API_KEY: 'a-key-that-is-there', SLUICE_BUCKET: 'b' }, [])
    expect(stdout).toMatch(/logBucket +"b" +SLUICE_BUCKET/)
  })

  it('finds that something else answers instead of the service, such as a login page', async () => {
    const page = '<!doctype html><title>Log in</title>'
    const server = await serverHere(() => ({
      type: 'answer',
      status: 200,
      body: page,
      headers: { 'content-type': 'text/html' },
    }))
    const here = { SLUICE_URL: server.url, SLUICE_API_KEY: 'k-1234', SLUICE_BUCKET: 'b', SLUICE_VALUE_BUCKET: 'c' }
    const { code, looks } = await examine(here)
    expect(code).toBe(1)
    expect(looks).toMatchObject({
      'log record': expect.stringMatching(
        /^bad: not the service: a web page answers \(200\): POST http:.*check the URL, and for a login page or proxy/,
      ),
      'value record': expect.stringMatching(/^skipped: not delivered either, for the same reason/),
    })
    const keys = server.requests.map(({ headers }) => headers.get('x-api-key'))
    expect(keys.filter((key) => key === 'k-1234')).toHaveLength(2)
  })

  it('shows the words of a gateway that refuses with a page, and the remedy for them', async () => {
    const server = await serverHere(({ headers }) => ({
      type: 'answer',
      status: 400,
      body: `<html><head><title>400 ${headers.has('x-api-key') ? 'The plain HTTP request was sent to HTTPS port; so' : 'No'}</title>`,
      headers: { 'content-type': 'text/html' },
    }))
    const { code, looks } = await examine({ SLUICE_URL: server.url, SLUICE_API_KEY: 'k-1234', SLUICE_BUCKET: 'b' })
    expect(code).toBe(1)
    expect(looks['log record']).toBe(
      'bad: a web page answers in place of the service (400): 400 The plain HTTP request was sent to HTTPS port; so: ' +
        `POST ${server.url}/logs/b → SLUICE_URL has to begin with https:; until then records wait in the queue`,
    )
  })

  it.runIf(full).each([404, 405])('tells a web page that answers %s from an unknown bucket', async (status) => {
    const headers = { 'content-type': 'text/html; charset=utf-8' }
    const server = await serverHere(() => ({ type: 'answer', status, body: '<h1>No</h1>', headers }))
    const { looks } = await examine({ SLUICE_URL: server.url, SLUICE_API_KEY: 'k-1234', SLUICE_BUCKET: 'b' })
    expect(looks['log record']).toContain(`bad: not the service: a web page answers (${status}): POST ${server.url}`)
  })

  it.runIf(full).each([401, 403])('tells a web page that answers %s from a wrong key', async (status) => {
    const headers = { 'content-type': 'text/html; charset=utf-8' }
    const server = await serverHere(() => ({ type: 'answer', status, body: '<html><h1>Log in</h1></html>', headers }))
    const { code, looks } = await examine({ SLUICE_URL: server.url, SLUICE_API_KEY: 'k-1234', SLUICE_BUCKET: 'b' })
    expect(code).toBe(1)
    expect(looks['log record']).toContain(
      `bad: a web page answers in place of the service (${status}) → check SLUICE_URL`,
    )
  })

  it.runIf(full)('finds that the clocks differ by a day', async () => {
    const yesterday = new Date(Date.now() - 86_400_000).toUTCString()
    const server = await serverHere(() => ({ type: 'answer', status: 201, headers: { date: yesterday } }))
    const { code, looks } = await examine({ SLUICE_URL: server.url, SLUICE_API_KEY: 'k-1234', SLUICE_BUCKET: 'b' })
    expect(code).toBe(1)
    expect(looks.clock).toMatch(/^bad: 1 day ahead of that of the service → set the clock that is wrong/)
  })

  it.runIf(full)(
    'says which program is missing where nothing listens: the service on this machine, or the proxy',
    async () => {
      const here = { SLUICE_API_KEY: 'k-1234', SLUICE_BUCKET: 'b' }
      const connectionTo = async (variables: Record<string, string>) =>
        (await examine({ ...here, ...variables })).looks.connection
      expect(await connectionTo({ SLUICE_URL: 'http://127.0.0.1:1' })).toBe(
        'bad: nothing listens at 127.0.0.1:1 (ECONNREFUSED) → start a receiver with npx sluice-receiver --port 1, or correct the port in SLUICE_URL',
      )
      expect(await connectionTo({ SLUICE_URL: 'https://service.example', HTTPS_PROXY: 'http://127.0.0.1:1' })).toBe(
        'bad: nothing listens at 127.0.0.1:1, the proxy of HTTPS_PROXY (ECONNREFUSED) → start the proxy, correct or unset HTTPS_PROXY, or name the host in NO_PROXY',
      )
    },
  )

  it.runIf(full)(
    'tells one problem of both lanes once, and lists only the options that are set without --verbose',
    async () => {
      const receiver = await receiverHere()
      const variables = { ...receiver.variables, SLUICE_API_KEY: 'another-key' }
      const { stdout } = await start(variables, [])
      expect(stdout).toMatch(/✗ log record .*\n.*\n– value record +not delivered either, for the same reason\n/)
      expect(stdout).toContain('\n1 problem found\n')
      const [, shown = ''] = stdout.split('\n\n')
      expect(shown).toMatch(/\d+ options not set: --verbose shows the defaults$/)
      expect(shown).toMatch(/apiKey +"\[redacted\]" +SLUICE_API_KEY\n/)
      expect(shown).not.toContain('default\n')
      expect(stdout).not.toContain('another-key')
      const { stdout: all } = await start(variables, ['--verbose'])
      expect(all).toMatch(/maxConnections +64 +default/)
      expect(all).not.toContain('--verbose')
    },
  )

  it.runIf(full)('never prints the password of a proxy or the key, even when the service repeats it', async () => {
    const key = 'sk-"secret'
    const body = JSON.stringify({ errors: [{ message: `no such key: ${key}` }] })
    const server = await serverHere(() => ({ type: 'answer', status: 400, body }))
    const proxy = await startProxy(() => server.port)
    onTestFinished(() => proxy.close())
    const settings: Record<string, string>[] = [
      { SLUICE_URL: server.url },
      { SLUICE_URL: 'http://service.example', SLUICE_ALLOW_INSECURE: '1', http_proxy: proxy.url },
      { SLUICE_URL: 'ftp://x' },
      {},
    ]
    for (const variables of rowsOf(settings, ({ http_proxy }) => http_proxy !== undefined)) {
      const all = { SLUICE_API_KEY: key, SLUICE_BUCKET: 'b', SLUICE_DEBUG: '1', ...variables }
      const ended = await Promise.all([[], ['--json'], ['--no-send']].map((written) => start(all, written)))
      for (const { stdout, stderr } of ended) {
        expect(stdout).not.toBe('')
        for (const secret of [key, JSON.stringify(key).slice(1, -1), 'p@ss', 'p%40ss'])
          expect(stdout + stderr).not.toContain(secret)
      }
    }
    expect(server.requests.length).toBeGreaterThan(0)
  })

  it.runIf(full)('gives advice for a refused key, an unknown bucket and a busy service', async () => {
    const receiver = await receiverHere()
    const wrongKey = await examine({ ...receiver.variables, SLUICE_API_KEY: 'another-key' })
    expect(wrongKey.code).toBe(1)
    expect(wrongKey.looks['log record']).toMatch(/^bad: the key is missing or wrong \(401\) → check SLUICE_API_KEY/)
    const wordAsKey = await examine({ ...receiver.variables, SLUICE_API_KEY: 'wrong' })
    expect(wordAsKey.looks['log record']).toMatch(/^bad: the key is missing or wrong \(401\)/)
    const wrongBucket = await examine({ ...receiver.variables, SLUICE_VALUE_BUCKET: 'other' })
    expect(wrongBucket.looks['log record']).toMatch(/^good/)
    expect(wrongBucket.looks['value record']).toMatch(/^bad: .*(404|403)/)
    const wholePath = await examine({ ...receiver.variables, SLUICE_URL: `${receiver.url}/logs/demo` })
    expect(wholePath.looks['log record']).toMatch(
      /^bad: the URL is wrong: .* \(404\): POST http:.*\/logs\/demo\/logs\/demo → set SLUICE_URL=/,
    )
    const busy = await serverHere(() => ({ type: 'answer', status: 503 }))
    const { looks } = await examine({ ...receiver.variables, SLUICE_URL: busy.url })
    expect(looks['log record']).toMatch(/^bad: the service answered 503 → records wait/)
  })

  it('tells at a 404 whether the bucket or the URL is wrong', async () => {
    const { variables, logs } = await receiverHere()
    const { SLUICE_URL: url } = variables
    const other = await examine({ ...variables, SLUICE_BUCKET: 'other' })
    expect(other.looks['log record']).toBe(
      `bad: the service has no bucket other (404): POST ${url}/logs/other → correct SLUICE_BUCKET; the URL is right; until then records wait in the queue`,
    )
    const near = await examine({ ...variables, SLUICE_BUCKET: 'dmeo' })
    expect(near.looks['log record']).toContain('→ correct SLUICE_BUCKET: did you mean demo?; the URL is right')
    const below = await examine({ ...variables, SLUICE_URL: `${url}/logs/demo/` })
    expect(below.looks['log record']).toBe(
      `bad: the URL is wrong: nothing takes records there (404): POST ${url}/logs/demo/logs/demo → set SLUICE_URL=${url}, the base URL of the API; until then records wait in the queue`,
    )
    expect(below.looks['value record']).toBe('skipped: not delivered either, for the same reason → ')
    const logBucket = await examine({ ...variables, SLUICE_LOG_BUCKET: 'other' })
    expect(logBucket.looks['log record']).toContain('→ correct SLUICE_LOG_BUCKET;')
    expect(logBucket.looks['value record']).toMatch(/^good/)
    expect(await logs()).toEqual([])
  })

  it.runIf(full)('tells them apart at other services, or says that they cannot be told apart', async () => {
    const answer = (status: number, body = '') => ({ type: 'answer', status, body }) as const
    const isOperation = (path: string) => /\/(logs|value_tracking)\/[^/]*$/.test(path)
    const message = async (script: (path: string, key: boolean) => ReturnType<typeof answer>) => {
      const server = await serverHere(({ path, headers }) => script(path, headers.has('x-api-key')))
      const { looks } = await examine({ SLUICE_URL: server.url, SLUICE_API_KEY: 'k-1234', SLUICE_BUCKET: 'b' })
      return looks['log record']
    }
    const noBucket = /^bad: the service has no bucket b \(404\)/
    expect(await message((path) => answer(404, isOperation(path) ? '{"errors":["no bucket"]}' : ''))).toMatch(noBucket)
    expect(await message((path, key) => answer(isOperation(path) && !key ? 401 : 404))).toMatch(noBucket)
    expect(await message((path) => answer(404, `Cannot POST ${path}`))).toMatch(/^bad: the URL is wrong/)
    expect(await message(() => answer(404))).toMatch(
      /^bad: no such bucket, or none at this URL \(404\).* → check SLUICE_BUCKET and SLUICE_URL;/,
    )
  })

  it.runIf(full)('names the sender of an application, and the reason', async () => {
    const here = { SLUICE_API_KEY: 'k-1234', SLUICE_BUCKET: 'b' }
    const plain = await serverHere()
    const { looks } = await examine({ ...here, SLUICE_URL: plain.url })
    expect(looks.sender).toMatch(/pipelined.*values one at a time.*does not echo idempotency-key/)
    expect((await examine({ ...here, SLUICE_URL: plain.url, SLUICE_PIPELINING: 'off' })).looks.sender).toMatch(
      /undici: SLUICE_PIPELINING is off/,
    )
    const closing = await serverHere(() => ({ type: 'close', announced: true }))
    expect((await examine({ ...here, SLUICE_URL: closing.url })).looks.sender).toMatch(
      /pipelined, one request at a time: .*does not keep/,
    )
  })

  it.runIf(full)('reaches a service behind a proxy through it, TLS included', async () => {
    const server = await serverHere(undefined, { certificate: 'service' })
    const proxy = await startProxy(() => server.port)
    onTestFinished(() => proxy.close())
    const variables = {
      SLUICE_URL: 'https://service.example',
      SLUICE_API_KEY: 'k-1234',
      SLUICE_BUCKET: 'b',
      HTTPS_PROXY: proxy.url,
      NODE_EXTRA_CA_CERTS: join(certificates, 'service.pem'),
    }
    const { looks } = await examine(variables)
    expect(looks.name).toMatch(/127\.0\.0\.1 \(the proxy of HTTPS_PROXY\)/)
    expect(looks.certificate).toMatch(/^good: TLSv1\.3/)
    expect(looks['log record']).toMatch(/^good/)
    expect(looks.sender).toMatch(/undici, through the proxy of HTTPS_PROXY/)
    proxy.refuse = 407
    expect((await examine(variables)).looks.certificate).toMatch(/^bad: the proxy answers 407/)
  })

  it.each(rowsOf(['foreign', 'expired'] as const, (certificate) => certificate === 'expired'))(
    'finds a certificate that is %s, and sends nothing there',
    async (certificate) => {
      const server = await serverHere(undefined, { certificate })
      const { code, looks } = await examine({ SLUICE_URL: server.url, SLUICE_API_KEY: 'k-1234', SLUICE_BUCKET: 'b' })
      expect(code).toBe(1)
      expect(looks.certificate).toMatch(/^bad: .* → ./)
      expect(looks.service).toMatch(/^skipped/)
      expect(server.requests).toEqual([])
    },
  )

  it.runIf(full)('finds an unknown name, a closed port, and a port without TLS', async () => {
    const here = { SLUICE_API_KEY: 'k-1234', SLUICE_BUCKET: 'b' }
    expect((await examine({ ...here, SLUICE_URL: 'https://nowhere.invalid' })).looks.name).toMatch(/^bad: .* → check/)
    expect((await examine({ ...here, SLUICE_URL: 'http://127.0.0.1:1' })).looks.connection).toMatch(/ECONNREFUSED/)
    const receiver = await receiverHere()
    const { looks } = await examine({ ...here, SLUICE_URL: receiver.url.replace('http:', 'https:') })
    expect(looks.certificate).toMatch(/does not speak TLS/)
  })

  it.runIf(full).each(['http', 'https'])(
    'does not wait for a service that accepts %s and never answers',
    async (protocol) => {
      const silent = createServer(() => {})
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => void silent.close())
      const { port } = silent.address() as { port: number }
      const { code, looks } = await examine({
        SLUICE_URL: `${protocol}://127.0.0.1:${port}`,
        SLUICE_API_KEY: 'k-1234',
        SLUICE_BUCKET: 'b',
        SLUICE_REQUEST_TIMEOUT_MS: '300',
      })
      expect(code).toBe(1)
      expect(looks[protocol === 'http' ? 'answer' : 'certificate']).toMatch(/^bad: no .*within 300 ms/)
      expect(looks.worker).toMatch(/^good/)
    },
  )

  it.runIf(full)('lists the files in the spool, and changes none', async () => {
    const receiver = await receiverHere()
    const dir = mkdtempSync(join(tmpdir(), 'sluice-doctor-'))
    onTestFinished(() => rmSync(dir, { recursive: true }))
    const unmade = join(dir, 'not/there')
    const spoolDir = (path: string) => examine({ ...receiver.variables, SLUICE_SPOOL_DIR: path }, '--no-send')
    expect((await spoolDir(unmade)).looks.spool).toMatch(/^good: .*not\/there will be created/)
    expect(existsSync(unmade)).toBe(false)
    const left = leftFolder(dir, receiver.variables)
    writeFileSync(join(left, 'info-000001.ndjson'), 'x'.repeat(2048))
    mkdirSync(join(dir, 'dead-letter'))
    writeFileSync(join(dir, 'dead-letter', '1-a-b-000001.ndjson'), 'x')
    const { code, looks } = await spoolDir(dir)
    expect(code).toBe(1)
    expect(looks.backlog).toMatch(/^good: 1 file, 2\.0 KiB, of processes that have ended/)
    expect(looks['dead letters']).toMatch(/^bad: 1 file, 1 B, of records/)
    expect(looks).not.toHaveProperty('other service')
    expect(readdirSync(dir, { recursive: true })).toHaveLength(4)
    const foreign = join(dir, '01234567-0123456789ab')
    mkdirSync(foreign)
    writeFileSync(join(foreign, 'info-000001.ndjson'), 'x')
    const { looks: both } = await spoolDir(dir)
    expect(both.backlog).toMatch(/^good: 1 file, /)
    expect(both['other service']).toMatch(/^skipped: 1 file, 1 B, for another SLUICE_URL or bucket/)
    writeFileSync(join(dir, 'file'), '')
    expect((await spoolDir(join(dir, 'file'))).looks.spool).toMatch(/^bad: .*file is no folder/)
  })

  it.runIf(full)('says why a folder cannot be the spool, and ignores files that do not belong to it', async () => {
    const receiver = await receiverHere()
    const dir = mkdtempSync(join(tmpdir(), 'sluice-doctor-'))
    onTestFinished(() => rmSync(dir, { recursive: true }))
    const left = leftFolder(dir, receiver.variables)
    const named = (number: number) => join(left, `info-00000${number}.ndjson`)
    writeFileSync(named(1), 'x')
    symlinkSync('/nowhere', named(2))
    symlinkSync('/nowhere', join(dir, '01234567-0123456789ab'))
    execFileSync('mkfifo', [join(left, 'lock-1')])
    const link = `${dir}-link`
    symlinkSync(dir, link)
    onTestFinished(() => rmSync(link))
    const spoolDir = (path: string) => examine({ ...receiver.variables, SLUICE_SPOOL_DIR: path }, '--no-send')
    expect((await spoolDir(dir)).looks.backlog).toMatch(/^good: 1 file, 1 B,/)
    expect((await spoolDir(link)).looks.spool).toMatch(/^bad: .*-link is a symbolic link: name the folder itself/)
  })

  it.runIf(full)('finds that the delivery worker cannot start', async () => {
    const receiver = await receiverHere()
    const flags = ['--experimental-permission', '--allow-fs-read=*', '--allow-fs-write=*', '--allow-child-process']
    const { code, stdout } = await start(receiver.variables, ['--no-send', '--json'], flags)
    expect(code).toBe(1)
    expect(JSON.parse(stdout).checks.at(-1)).toMatchObject({ check: 'worker', state: 'bad' })
  })

  it.runIf(full)('prints colours on a terminal, unless NO_COLOR is set', () => {
    const run = (variables: Record<string, string>) => {
      const command = `${process.execPath} ${join(import.meta.dirname, '../../../dist/cli.js')} doctor`
      // Without inherited variables: CI, NODE_DISABLE_COLORS and others affect colours, too.
      const env = { PATH: process.env.PATH, TERM: 'xterm-256color', SLUICE_URL: 'ftp://x', ...variables }
      try {
        return execFileSync('script', ['-qec', command, '/dev/null'], { env, encoding: 'utf8', stdio: 'pipe' })
      } catch (error) {
        return (error as { stdout: string }).stdout
      }
    }
    expect(run({})).toContain('\x1b[31m✗')
    expect(run({ NO_COLOR: '1' })).not.toContain('\x1b')
  })

  it.runIf(full)('refuses operands and unknown options', async () => {
    expect(await start({}, ['now'])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('got now') })
    expect(await start({}, ['--nosend'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean --no-send?'),
    })
  })

  it.runIf(full)('does not wait for a named pipe with the name .env', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-doctor-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    execFileSync('mkfifo', [join(folder, '.env')])
    const { code, stdout } = await startProgram('../../dist/cli.js', {
      arguments: ['doctor'],
      before: `cd '${folder}'`,
    }).ended
    expect(code).toBe(1)
    expect(stdout).toContain('nothing is configured')
  })
})
