import { ok } from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { type Receiver, startReceiver } from '../../../packages/receiver/src/receiver.js'
import { Input, seed } from '../input.js'

const record = '{"timeStamp":1700000000000,"level":"info","message":"hello","appName":"shop"}'
const type =
  '{"key":"article","name":"A","description":"D","displayField":"t","schema":[{"key":"t","label":"T","type":"text","required":true,"maxLength":10}]}'

/** Each takes the input as its body, or as the end of its path. */
const routes = [
  ['POST', '/logs/demo', 'application/json'],
  ['POST', '/v1/value_tracking/demo', 'application/json'],
  ['POST', '/otlp/demo/v1/logs', 'application/json'],
  ['POST', '/otlp/demo/v1/logs', 'application/x-protobuf'],
  ['POST', '/api/content-types/demo', 'application/json'],
  ['POST', '/ng-cms/content/demo/article', 'application/json'],
  ['POST', '/ng-cms/content/demo/article/migrate', 'application/json'],
  ['POST', '/api/projects', 'application/json'],
  ['PUT', '/api/projects/demo/plan', 'application/json'],
  ['POST', '/logs/demo', 'text/plain'],
  ['GET', '/api/logs/demo?', undefined],
  ['GET', '/api/values/demo?', undefined],
  ['GET', '/api/counts/demo?', undefined],
  ['GET', '/api/facets/logs?bucket=demo&', undefined],
  ['GET', '/ng-cms/content-types/demo?', undefined],
  ['GET', '/', undefined],
  ['GET', '/api/live?bucket=nothing&', undefined],
  ['DELETE', '/ng-cms/content-types/demo/', undefined],
] as const

const queries = [
  'limit=5&after=1',
  'level=info&minLevel=warn&text=a%20b&since=5m',
  'before=9&appName=shop',
  'step=1h&since=2026-01-01',
  'cursor=%22',
]

export const seeds = [
  seed([0, 0], record),
  seed([0, 0], record.replace('"info"', '7').replace('}', ',"x":{"__proto__":[1e400]}}')),
  seed([1, 0], '{"timeStamp":1700000000000,"eventId":1001,"appName":"shop"}'),
  seed([2, 0], '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1","body":{"stringValue":"m"}}]}]}]}'),
  seed([3, 0], Buffer.from('0a0a12081206220048002a00', 'hex')),
  seed([4, 0], type),
  seed([5, 0], '{"t":"title"}'),
  seed([6, 0], '{"id":"1","t":"<p>title</p>"}'),
  seed([7, 0], '{"id":"other","name":"x"}'),
  seed([8, 0], '{"content":true}'),
  ...queries.flatMap((query) => [10, 11, 12, 13, 14, 16].map((route) => seed([route, 0], query))),
  seed([15, 0], '../..%2fetc/passwd?token=x'),
  seed([17, 0], 'article'),
  seed([0, 1], record),
  seed([0, 2], '\u001f\u008b'),
]

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
let receiver: Receiver | undefined
let answers = 0

export async function fuzz(data: Buffer): Promise<void> {
  receiver ??= await startReceiver({ port: 0, data: ':memory:', requestTimeoutMs: 2000 })
  const input = new Input(data)
  const [method, path, contentType] = input.pick(routes)
  const headers = input.pick([{}, { 'idempotency-key': 'k' }, { 'content-encoding': 'gzip' }, { accept: '*/*;q=x' }])
  const rest = input.rest()
  const hasBody = contentType !== undefined
  const tail = hasBody ? '' : rest.toString('latin1').replaceAll(/[^\x21-\x7e\x80-\xff]/g, '')
  // The stream of a bucket that does not exist ends at once; another one would go on.
  if (path.startsWith('/api/live') && /bucket/i.test(tail)) return
  const { status, text } = await answerTo(receiver, {
    method,
    path: path + tail,
    headers: { ...headers, ...(hasBody ? { 'content-type': contentType } : {}) },
    body: hasBody ? rest : undefined,
  })
  ok(status >= 200 && status < 500, `${method} ${path} is answered with ${status}: ${text}`)
  // Each record that was stored can be read.
  if (++answers % 200 !== 0) return
  const read = await answerTo(receiver, {
    method: 'GET',
    path: '/api/logs/demo?limit=1000',
    headers: {},
    body: undefined,
  })
  ok(read.status === 200, `reading is answered with ${read.status}: ${read.text}`)
}

interface Question {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
}

/** The status and the body, which be JSON where the header says so. */
function answerTo(
  { url, apiKey }: Receiver,
  { method, path, headers, body }: Question,
): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname, port, method, path, agent, headers: { ...headers, 'x-api-key': apiKey! } },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (piece: string) => {
          text += piece
        })
        answer.on('error', reject)
        answer.on('end', () => {
          const { statusCode = 0 } = answer
          try {
            if (answer.headers['content-type']?.startsWith('application/json') && text !== '') JSON.parse(text)
            resolve({ status: statusCode, text })
          } catch {
            reject(new Error(`${method} ${path} is answered with ${statusCode} and no JSON: ${text.slice(0, 200)}`))
          }
        })
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}
