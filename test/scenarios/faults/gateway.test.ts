import { createSluice, type Sluice, type SluiceOptions } from 'sluice'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { delivered, type Fault, FaultServer, type Request } from '../../support/fault-server.js'
import { rowsOf } from '../../support/full.js'
import { certificates, freePort, nginxInstalled, runNginx } from '../../support/nginx.js'
import { ampleTime, runProgram } from '../../support/programs.js'

let server: FaultServer
let sluice: Sluice | undefined
let told: string[]
beforeEach(async () => {
  server = await FaultServer.start()
  told = []
  // No authority signs the certificate of these tests.
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await sluice?.close({ timeoutMs: 0 })
  sluice = undefined
  await server.close()
})

function open(options: SluiceOptions = {}): Sluice {
  const quick = { retryBaseMs: 5, retryCapMs: 50, probeBaseMs: 30, probeCapMs: 60, mode: 'inline' } as const
  const onError = ({ message }: Error) => told.push(message)
  sluice = createSluice({ url: server.url, apiKey: 'k', bucket: 'b', ...quick, onError, ...options })
  return sluice
}

const track = (from: number, to: number) => {
  for (let event = from; event < to; event++) sluice!.track(event)
}
const eventOf = ({ body }: Pick<Request, 'body'>) => (JSON.parse(body) as { eventId: number }).eventId
const page = (status: number, title: string): Fault => ({
  type: 'answer',
  status,
  body: `<html>\r\n<head><title>${title}</title></head>\r\n<body><center><h1>${title}</h1></center></body></html>`,
  headers: { 'content-type': 'text/html' },
})

describe.runIf(nginxInstalled)('nginx that refuses every request with its own page', () => {
  /** Runs nginx before the service, with a block `server` for the ports. `well`: what corrects it. */
  async function nginxWith(refusing: string, well: string) {
    const [port, securePort] = [await freePort(), await freePort()]
    const http = (settings: string) => `upstream service { server ${new URL(server.url).host}; keepalive 8; }
      server {
        listen 127.0.0.1:${port};
        listen 127.0.0.1:${securePort} ssl;
        ssl_certificate ${certificates}/foreign.pem; ssl_certificate_key ${certificates}/key.pem;
        ${settings}
        location / { proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection ""; }
      }`
    const nginx = await runNginx({ port, http: http(refusing) })
    onTestFinished(() => nginx.close())
    return { securePort, port, correct: () => nginx.reload(http(well)) }
  }

  it.each([
    {
      title: 'no client certificate came',
      refusing: `ssl_verify_client on; ssl_client_certificate ${certificates}/foreign.pem;`,
      options: {},
      words: '400 No required SSL certificate was sent; Sluice sends no client certificate',
    },
    {
      title: 'a header is too long',
      refusing: 'client_header_buffer_size 1k; large_client_header_buffers 2 1k;',
      options: { apiKey: 'k'.repeat(2000) },
      words: '400 Request Header Or Cookie Too Large; check the length of SLUICE_API_KEY',
    },
    {
      title: 'a body is too long',
      refusing: 'client_max_body_size 100;',
      options: {},
      words: '413 Request Entity Too Large; raise the limit of the gateway for a body',
    },
  ])('because $title pauses the lane and loses nothing; after the correction all is delivered', async (row) => {
    const { securePort, correct } = await nginxWith(row.refusing, '')
    open({ url: `https://localhost:${securePort}`, ...row.options })
    track(0, 51)
    const ledger = await sluice!.flush()
    expect(ledger).toMatchObject({ delivered: 0, rejected: 0 })
    expect(ledger.queued + ledger.inFlight).toBe(51)
    expect(ledger.lanes.find(({ kind }) => kind === 'values')!.state).toBe('paused')
    expect(told).toEqual([expect.stringContaining(row.words)])
    const all = server.arrived(51)
    correct()
    await all
    expect(await sluice!.flush()).toMatchObject({ delivered: 51, rejected: 0, queued: 0 })
    expect(new Set(server.taken.map((body) => eventOf({ body }))).size).toBe(51)
  })

  it('because http: goes to its port of https: pauses the lane, and the message says what to correct', async () => {
    const { securePort } = await nginxWith('', '')
    open({ url: `http://127.0.0.1:${securePort}` })
    track(0, 51)
    expect(await sluice!.flush()).toMatchObject({ delivered: 0, rejected: 0 })
    expect(told).toEqual([
      'lane values of bucket b paused, records are kept: a web page answers in place of the service (400): ' +
        '400 The plain HTTP request was sent to HTTPS port; SLUICE_URL has to begin with https:',
    ])
    expect(await sluice!.close()).toMatchObject({ rejected: 0, dropped: { shutdown: 51 } })
  })
})

describe.runIf(nginxInstalled)('nginx that has no patience with the service', () => {
  it('answers 504 after the service has worked: each value that is stored twice is counted as an ambiguous retry', async () => {
    const port = await freePort()
    const nginx = await runNginx({
      port,
      http: `server {
        listen 127.0.0.1:${port};
        location / { proxy_pass ${server.url}; proxy_http_version 1.1; proxy_read_timeout 300ms; }
      }`,
    })
    onTestFinished(() => nginx.close())
    const seen = new Set<number>()
    server.script = (request) => {
      const event = eventOf(request)
      const isSlow = event % 4 === 1 && !seen.has(event)
      seen.add(event)
      return isSlow ? { ...delivered, afterMs: 600 } : delivered
    }
    open({ url: nginx.url })
    track(0, 60)
    const ledger = await sluice!.flush()
    expect(ledger).toMatchObject({ delivered: 60, rejected: 0 })
    const twice = server.taken.length - 60
    expect(twice).toBeGreaterThanOrEqual(15)
    expect(ledger.ambiguousRetries).toBe(twice)
  })
})

const gateways: Readonly<Record<string, Fault>> = {
  'a page with 413': page(413, '413 Request Entity Too Large'),
  'a page with 400': page(400, '400 Bad Request'),
  '400 and JSON that is no envelope of the API': { type: 'answer', status: 400, body: '{"message":"Bad Request"}' },
  '422 without a body': { type: 'answer', status: 422 },
}

describe.each(rowsOf(Object.entries(gateways), ([title]) => title === 'a page with 413'))(
  'a gateway that answers with %s',
  (_, fault) => {
    it('to one record alone: it is rejected after the confirmations, and all others are delivered', async () => {
      open()
      server.script = (request) => (eventOf(request) === 13 ? fault : delivered)
      let next = 0
      for (; sluice!.stats().rejected === 0 && next < 20_000; next++) {
        const arrived = server.arrived(1)
        sluice!.track(next)
        await arrived
      }
      expect(await sluice!.flush()).toMatchObject({ delivered: next - 1, rejected: 1, queued: 0 })
      expect(told).toEqual([expect.stringContaining('failed again and again while others were delivered')])
      expect(server.requests.filter((each) => eventOf(each) === 13).length).toBeGreaterThanOrEqual(8)
    })

    it('to every record of a lane that delivered: it pauses, keeps all, and goes on by itself', async () => {
      open()
      track(0, 200)
      await sluice!.flush()
      server.script = () => fault
      track(200, 400)
      const ledger = await sluice!.flush()
      expect(ledger).toMatchObject({ delivered: 200, rejected: 0 })
      expect(ledger.lanes.find(({ kind }) => kind === 'values')!.state).toBe('paused')
      expect(told).toHaveLength(1)
      const all = server.arrived(200)
      server.script = () => delivered
      await all
      expect(await sluice!.flush()).toMatchObject({ delivered: 400, rejected: 0, queued: 0 })
    })

    it.each(rowsOf(['inline', 'worker'], (mode) => mode === 'inline'))(
      'to every record at process.exit(), mode %s: none is rejected, and the last line says why',
      async (mode) => {
        server.script = () => fault
        const { code, stderr } = await runProgram('exits.js', {
          WAY: 'track',
          END: 'exit 3',
          SLUICE_URL: server.url,
          SLUICE_API_KEY: 'k',
          SLUICE_BUCKET: 'b',
          SLUICE_MODE: mode,
          ...ampleTime,
        })
        expect(code).toBe(3)
        expect(stderr).not.toContain('rejected')
        expect(stderr).toMatch(
          /sluice: 1000 records not delivered before the end of the process; last error: .*\((400|413|422)\)/,
        )
        expect(stderr).not.toContain('may have arrived')
      },
    )
  },
)
