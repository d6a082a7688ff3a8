import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { full, rowsOf } from '../../support/full.js'
import { runProgram, startProgram } from '../../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

const ways = ['pino', 'sluicePino', 'winston', 'opentelemetry', 'track']

let receiver: TestReceiver
/** A web page in place of the service: 200 below /shop, otherwise 404. */
let page: Server
let pageUrl: string
beforeAll(async () => {
  receiver = await startTestReceiver()
  page = createServer((request, response) => {
    response.writeHead(request.url?.startsWith('/shop') ? 200 : 404, { 'content-type': 'text/html' })
    response.end('<!doctype html><title>Shop</title>')
  })
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve))
  pageUrl = `http://127.0.0.1:${(page.address() as AddressInfo).port}`
})
afterAll(async () => {
  await receiver.close()
  page.close()
})

const doctor = 'npx sluice doctor checks it'
const until = `no records are sent until this is corrected: ${doctor}`
const notDelivered =
  /^sluice: 1 (log |value )?records? (not delivered before the end of the process|dropped \(shutdown\): not delivered before the end)/

/** The mistake of a new user, the variables that differ, and the line that says so. */
const mistakes: [mistake: string, change: Record<string, string>, line: string | RegExp][] = [
  [
    'sets no variable',
    { SLUICE_URL: '', SLUICE_API_KEY: '', SLUICE_BUCKET: '' },
    'sluice: off: set SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET to ship logs and value events',
  ],
  [
    'leaves the bucket out',
    { SLUICE_BUCKET: '' },
    /^sluice: off: option bucket is missing: set it or SLUICE_BUCKET \(or (log|value)Bucket, SLUICE_(LOG|VALUE)_BUCKET\); no records are sent until this is corrected: npx sluice doctor checks it$/,
  ],
  [
    'misspells a variable',
    { SLUICE_BUCKET: '', SLUICE_BUKCET: 'demo' },
    /^sluice: off: option bucket is missing: .*; unknown variable SLUICE_BUKCET; did you mean SLUICE_BUCKET\?$/,
  ],
  [
    'writes no URL',
    { SLUICE_URL: 'shop' },
    `sluice: off: SLUICE_URL (option url): expected an http: or https: URL without credentials and query, got "[redacted]"; a URL begins with http:// or https://; ${until}`,
  ],
  [
    'uses http: off the machine',
    { SLUICE_URL: 'http://logs.example' },
    `sluice: off: option url (SLUICE_URL): http://logs.example/ would send the key unencrypted; use https:, or set allowInsecure (SLUICE_ALLOW_INSECURE=true); ${until}`,
  ],
  [
    'names a port at which nothing listens',
    { SLUICE_URL: 'http://127.0.0.1:1' },
    'sluice: nothing listens at http://127.0.0.1:1; records wait in memory: start a receiver with npx sluice-receiver, or see npx sluice doctor',
  ],
  [
    'has a proxy that is down',
    { SLUICE_URL: 'https://logs.example', HTTPS_PROXY: 'http://user:word@127.0.0.1:1' },
    'sluice: nothing listens at http://127.0.0.1:1, the proxy of HTTPS_PROXY; records wait in memory: correct HTTPS_PROXY, or see npx sluice doctor',
  ],
  [
    'has a wrong key',
    { SLUICE_API_KEY: 'wrong' },
    /^sluice: lane (logs|values) of bucket demo paused, records are kept: the key is missing or wrong \(401\); check SLUICE_API_KEY or SLUICE_API_KEY_FILE$/,
  ],
  [
    'names a bucket that there is not',
    { SLUICE_BUCKET: 'nowhere' },
    /^sluice: lane (logs|values) of bucket nowhere paused, records are kept: .*\(40[34]\); check /,
  ],
  [
    'names a web page that answers 404',
    { SLUICE_URL: 'page' },
    /paused, records are kept: no such bucket, or none at this URL \(404\); check SLUICE_BUCKET and SLUICE_URL$/,
  ],
  [
    'names a web page that answers 200',
    { SLUICE_URL: 'page/shop' },
    /paused, records are kept: .*; check the URL, and for a login page or proxy$/,
  ],
]

describe.each(ways)('a first program with %s', (WAY) => {
  // Each way makes a mistake of its own.
  it.each(rowsOf(mistakes, (mistake) => mistakes.indexOf(mistake) === ways.indexOf(WAY)))(
    'whose user %s gets one line that says so, and ends as it would without Sluice',
    async (_, change, line) => {
      const variables: Record<string, string> = { ...receiver.variables, WAY, ...change }
      variables.SLUICE_URL = variables.SLUICE_URL!.replace(/^page/, pageUrl)
      const { code, stdout, stderr } = await runProgram('first-mistake.js', variables)
      const lines = stderr.trim().split('\n')
      const [first, ...rest] = lines
      expect({ code, stdout, first }).toEqual({
        code: 0,
        stdout: '',
        first: typeof line === 'string' ? line : expect.stringMatching(line),
      })
      // Where records were accepted, the end says how many are lost.
      expect(rest.filter((each) => !notDelivered.test(each))).toEqual([])
    },
  )

  it.runIf(full || WAY === 'pino')(
    'throws a ConfigError at the call for a wrong option in code, a pino target as its error event',
    async () => {
      const variables = { ...receiver.variables, WAY, OPTIONS: JSON.stringify({ maxConnections: 'many' }) }
      expect((await runProgram('first-mistake.js', variables)).stdout).toBe(
        'option maxConnections: expected a whole number from 1 to 1024, got "many"\n',
      )
    },
  )
})

describe('a program with a file .env', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-env-'))
    const { SLUICE_URL, SLUICE_API_KEY, SLUICE_BUCKET } = receiver.variables as Record<string, string>
    const text = `SLUICE_URL=${SLUICE_URL}\nexport SLUICE_API_KEY="${SLUICE_API_KEY}"\nSLUICE_BUCKET=${SLUICE_BUCKET}\n`
    await writeFile(join(folder, '.env'), text)
  })
  afterAll(() => rm(folder, { recursive: true }))

  const notLoaded =
    'sluice: off: set SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET to ship logs and value events; SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET are in .env, which nothing has loaded: start with node --env-file=.env\n'

  it.each(rowsOf(ways, (way) => way === 'pino'))('that nothing has loaded is told so: %s', async (WAY) => {
    const { ended } = startProgram('first-mistake.js', { variables: { WAY }, before: `cd ${folder}` })
    expect(await ended).toMatchObject({ code: 0, stderr: notLoaded })
  })

  it.each(rowsOf(['track', 'winston', 'sluicePino'], (way) => way === 'winston'))(
    'that is loaded after the first record sends the later ones: %s',
    async (WAY) => {
      const variables = { WAY, LATE: join(folder, '.env'), SLUICE_APP_NAME: `late ${WAY}` }
      const { code, stderr } = await startProgram('first-mistake.js', { variables, before: `cd ${folder}` }).ended
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: `${notLoaded}sluice: on: the variables are set now, records are sent from here on\n`,
      })
      const records = WAY === 'track' ? await receiver.values() : await receiver.logs()
      expect(records.filter(({ appName }) => appName === variables.SLUICE_APP_NAME).length).toBeGreaterThan(0)
    },
  )
})
