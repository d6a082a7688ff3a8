import { gzipSync } from 'node:zlib'
import { SeverityNumber } from '@opentelemetry/api-logs'
import { OTLPLogExporter as JsonExporter } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPLogExporter as ProtobufExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchLogRecordProcessor, LoggerProvider, type LogRecordExporter } from '@opentelemetry/sdk-logs'
import fc from 'fast-check'
import { SluiceLogRecordExporter } from 'sluice-opentelemetry'
import { describe, expect, it, onTestFinished } from 'vitest'
import { full, rowsOf } from '../../../test/support/full.js'
import { startReceiverForTest } from './support.js'

const protobuf = { 'content-type': 'application/x-protobuf' }
const at = new Date('2026-01-31T12:00:00.123Z')

async function start() {
  const receiver = await startReceiverForTest()
  onTestFinished(() => receiver.close())
  const post = async (body: Uint8Array | string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${receiver.url}/otlp/demo/v1/logs`, {
      method: 'POST',
      headers: { 'x-api-key': receiver.apiKey!, 'content-type': 'application/json', ...headers },
      body: body as string,
    })
    return {
      status: answer.status,
      type: answer.headers.get('content-type'),
      bytes: Buffer.from(await answer.arrayBuffer()),
    }
  }
  const stored = async () => (await receiver.call('GET', '/api/logs/demo?limit=1000')).body.list.reverse()
  return { ...receiver, post, stored }
}

/** Logs with OpenTelemetry's SDK, to the end. */
async function logWith(exporter: LogRecordExporter): Promise<void> {
  const resource = resourceFromAttributes({
    'service.name': 'shop',
    'service.version': '1.2.3',
    'deployment.environment.name': 'test',
    'host.name': 'm1',
  })
  const provider = new LoggerProvider({ resource, processors: [new BatchLogRecordProcessor({ exporter })] })
  const logger = provider.getLogger('checkout')
  const timestamp = at
  logger.emit({ timestamp, severityNumber: SeverityNumber.WARN, severityText: 'WARN', body: 'order placed ✓' })
  logger.emit({
    timestamp,
    severityNumber: SeverityNumber.DEBUG2,
    body: { order: { id: 7, lines: ['a', 'b'] } },
    attributes: { eventId: 1001, share: 0.5, whole: -3, big: 2 ** 52, yes: true, list: [1, 'two'], '': 'empty' },
  })
  logger.emit({
    timestamp,
    severityNumber: SeverityNumber.ERROR,
    attributes: {
      'exception.type': 'TypeError',
      'exception.message': 'broken',
      'exception.stacktrace': 'TypeError: broken\n    at x',
    },
  })
  logger.emit({ timestamp, body: '__proto__', attributes: { __proto__: 'a', constructor: 'b' } as never })
  await provider.shutdown()
}

describe('logs in the protocol of OpenTelemetry', () => {
  it.each([
    ['JSON', JsonExporter, 'none'],
    ['JSON in gzip', JsonExporter, 'gzip'],
    ['protobuf', ProtobufExporter, 'none'],
    ['protobuf in gzip', ProtobufExporter, 'gzip'],
  ] as const)('become the records that the exporter of Sluice makes: %s', async (_, Exporter, compression) => {
    const { url, apiKey, stored } = await start()
    const headers = { 'x-api-key': apiKey! }
    await logWith(new Exporter({ url: `${url}/otlp/demo/v1/logs`, headers, compression: compression as never }))
    const byOtlp = await stored()
    expect(byOtlp).toHaveLength(4)
    await logWith(new SluiceLogRecordExporter({ url, apiKey: apiKey!, bucket: 'demo' }))
    const all = await stored()
    const own = ({ id, receivedAt, runtime, runtimeVersion, ...rest }: Record<string, unknown>) => rest
    const inOrder = (list: Record<string, unknown>[]) =>
      list.map(own).sort((a, b) => String(a.message).localeCompare(String(b.message)))
    expect(inOrder(all.slice(0, 4))).toEqual(inOrder(all.slice(4)))
    expect(all[0]).toMatchObject({
      timeStamp: at.getTime(),
      level: 'warn',
      message: expect.stringContaining('order placed ✓'),
      appName: 'shop',
      appVersion: '1.2.3',
      env: 'test',
      machineName: 'm1',
    })
    expect(all[1]).toMatchObject({ level: 'debug', eventId: 1001 })
  })

  it('are stored once when the same request comes again, and answered in its encoding', async () => {
    const { post, stored } = await start()
    const body = JSON.stringify(
      request([{ body: { stringValue: 'once' }, timeUnixNano: '1' }, { body: { stringValue: 'once' } }]),
    )
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(await post(body)).toMatchObject({
        status: 200,
        type: expect.stringContaining('application/json'),
        bytes: Buffer.from('{}'),
      })
    }
    expect(await stored()).toHaveLength(2)
    expect(await post('', protobuf)).toMatchObject({
      status: 200,
      type: 'application/x-protobuf',
      bytes: Buffer.alloc(0),
    })
  })

  it('are stored each time where equal requests have no times, but once with a key', async () => {
    const { post, stored } = await start()
    const body = JSON.stringify(request([{ body: { stringValue: 'tick' } }]))
    for (let attempt = 0; attempt < 2; attempt++) expect((await post(body)).status).toBe(200)
    expect(await stored()).toHaveLength(2)
    for (let attempt = 0; attempt < 2; attempt++) await post(body, { 'idempotency-key': 'k1' })
    await post(body, { 'idempotency-key': 'k2' })
    expect(await stored()).toHaveLength(4)
    const observed = JSON.stringify(request([{ observedTimeUnixNano: '1769860800123000000' }]))
    for (let attempt = 0; attempt < 2; attempt++) await post(observed)
    expect(await stored()).toHaveLength(5)
  })

  it('have what resource and scope say beside the service in their context, in both encodings', async () => {
    const { post, stored } = await start()
    const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
    const attributes = [text('service.name', 'shop'), text('k8s.pod.name', 'shop-1'), text('order', 'of the resource')]
    const scope = { name: 'checkout', attributes: [text('team', 'web')] }
    const logRecords = [
      { body: { stringValue: 'a' }, attributes: [text('order', '17')] },
      { body: { stringValue: 'b' } },
    ]
    await post(JSON.stringify({ resourceLogs: [{ resource: { attributes }, scopeLogs: [{ scope, logRecords }] }] }))
    const own = (key: string, value: string) => [
      ...field(1, Buffer.from(key)),
      ...field(2, field(1, Buffer.from(value))),
    ]
    const bytes = field(1, [
      ...field(1, [...field(1, own('service.name', 'shop')), ...field(1, own('k8s.pod.name', 'shop-1'))]),
      ...field(2, [
        ...field(1, [...field(1, Buffer.from('checkout')), ...field(3, own('team', 'web'))]),
        ...field(2, []),
      ]),
    ])
    await post(Buffer.from(bytes), protobuf)
    const [a, b, binary] = await stored()
    const context = ({ message }: { message: string }) => JSON.parse(message.slice(message.indexOf('{')))
    const shared = { 'k8s.pod.name': 'shop-1', team: 'web', scope: 'checkout' }
    expect([a.appName, context(a)]).toEqual(['shop', { ...shared, order: '17' }])
    expect([b.appName, context(b)]).toEqual(['shop', { ...shared, order: 'of the resource' }])
    expect([binary.appName, context(binary)]).toEqual(['shop', shared])
  })

  it('are kinds of error by their type and place, with and without a stack', async () => {
    const { post, call } = await start()
    const log = (body: string, exception: Record<string, string>) => ({
      severityNumber: 17,
      body: { stringValue: body },
      attributes: Object.entries(exception).map(([key, stringValue]) => ({
        key: `exception.${key}`,
        value: { stringValue },
      })),
    })
    const go = 'goroutine 7 [running]:\nmain.place(0x1)\n\t/srv/shop/main.go:12 +0x1d'
    const python =
      'Traceback (most recent call last):\n  File "/srv/shop/a.py", line 3, in place\n    f()\nshop.Missing: x'
    await post(
      JSON.stringify(
        request([
          log('checkout failed', { type: 'OrderMissing', message: 'order 17' }),
          log('checkout failed', { type: 'OrderMissing', message: 'order 18' }),
          log('checkout failed', { type: 'OrderTwice' }),
          log('checkout failed', { type: '*errors.errorString', message: 'gone', stacktrace: go }),
          log('checkout failed', { type: 'Missing', message: 'x', stacktrace: python }),
        ]),
      ),
    )
    const { list } = (await call('GET', '/api/logs/demo/errors')).body
    const kinds = list.map(({ type, message, frame, count }: Record<string, unknown>) => [type, message, frame, count])
    expect(kinds).toHaveLength(4)
    expect(kinds).toEqual(
      expect.arrayContaining([
        ['OrderMissing', 'order <n>', null, 2],
        ['OrderTwice', '', null, 1],
        ['*errors.errorString', 'gone', 'main.place (main.go)', 1],
        ['shop.Missing', 'x', 'place (a.py)', 1],
      ]),
    )
  })

  it.each([
    ['1769860800', 1769860800000],
    ['1769860800123', 1769860800123],
    ['1769860800123456', 1769860800123],
    ['1769860800123456789', 1769860800123],
  ])('have the time of %s, whatever its unit is', async (timeUnixNano, timeStamp) => {
    const { post, stored } = await start()
    await post(JSON.stringify(request([{ timeUnixNano }])))
    expect(await stored()).toMatchObject([{ timeStamp }])
  })

  it('are found by the fields of a body beside a scope', async () => {
    const { post, call } = await start()
    const body = { kvlistValue: { values: [{ key: 'orderId', value: { intValue: '17' } }] } }
    const records = [{ body, attributes: [{ key: 'step', value: { stringValue: 'pay' } }] }]
    const logs = { resourceLogs: [{ scopeLogs: [{ scope: { name: 'checkout' }, logRecords: records }] }] }
    expect((await post(JSON.stringify(logs))).status).toBe(200)
    for (const q of ['orderId:17', 'orderId>16 scope:checkout step:pay']) {
      const { list } = (await call('GET', `/api/logs/demo?q=${encodeURIComponent(q)}`)).body
      expect(list.map(({ message }: { message: string }) => message)).toEqual([
        '{"step":"pay","scope":"checkout","orderId":17}',
      ])
    }
  })

  it('keep int64, ids, bytes, nesting and times, in both encodings', async () => {
    const { post, stored } = await start()
    const trace = '5b8efff798038103d269b633813fc60c'
    const answer = await post(
      JSON.stringify(
        request([
          {
            timeUnixNano: '1544712660300000000',
            severityNumber: 9,
            traceId: trace,
            spanId: 'eee19b7ec3c1b174',
            body: { stringValue: 'text' },
            attributes: [
              { key: 'int', value: { intValue: '9223372036854775807' } },
              { key: 'small', value: { intValue: 5 } },
              { key: 'bytes', value: { bytesValue: 'AAEC' } },
              { key: 'nothing', value: {} },
              { key: 'endless', value: { doubleValue: 'Infinity' } },
              {
                key: 'map',
                value: {
                  kvlistValue: { values: [{ key: 'a', value: { arrayValue: { values: [{ boolValue: true }] } } }] },
                },
              },
            ],
            somethingNew: 1,
          },
        ]),
      ),
    )
    expect(answer.status).toBe(200)
    // The same record in protobuf, by hand: time, severity, body, an attribute of int64 with all bits but the sign, and the ids.
    const bytes = field(
      1,
      field(
        2,
        field(2, [
          ...[0x09, ...le64(1544712660300000000n)],
          ...[0x10, 9],
          ...field(5, field(1, Buffer.from('text'))),
          ...field(6, [
            ...field(1, Buffer.from('int')),
            ...field(2, [0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
          ]),
          ...field(6, [
            ...field(1, Buffer.from('least')),
            ...field(2, [0x18, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]),
          ]),
          ...field(9, Buffer.from(trace, 'hex')),
          ...field(10, Buffer.from('eee19b7ec3c1b174', 'hex')),
        ]),
      ),
    )
    expect((await post(Buffer.from(bytes), protobuf)).status).toBe(200)
    const [json, binary] = await stored()
    expect(json).toMatchObject({ timeStamp: 1544712660300, level: 'info', appName: 'unknown_service' })
    expect(binary).toMatchObject({ timeStamp: 1544712660300, level: 'info', appName: 'unknown_service' })
    expect(JSON.parse(json.message.slice(5))).toEqual({
      int: '9223372036854775807',
      small: 5,
      bytes: 'AAEC',
      nothing: null,
      endless: expect.anything(),
      map: { a: [true] },
      trace_id: trace,
      span_id: 'eee19b7ec3c1b174',
    })
    expect(JSON.parse(binary.message.slice(5))).toEqual({
      int: '9223372036854775807',
      least: '-9223372036854775808',
      trace_id: trace,
      span_id: 'eee19b7ec3c1b174',
    })
  })
})

describe('a request that is none', () => {
  it.each([
    ['{', {}, 400, 'body is not JSON'],
    ['[]', {}, 400, 'body must be an object'],
    ['{"resourceLogs":5}', {}, 400, 'body has resourceLogs, which must be a list'],
    [
      JSON.stringify(request([{ timeUnixNano: 'soon' }])),
      {},
      400,
      'resourceLogs[0].scopeLogs[0].logRecords[0].timeUnixNano, which must be a whole number',
    ],
    [
      JSON.stringify(request([{ timeUnixNano: '18446744073709551616' }])),
      {},
      400,
      'timeUnixNano, which must be a number of nanoseconds that 64 bits can hold',
    ],
    [
      `{"resourceLogs":[{"resource":{"attributes":[{"key":"a","value":${'{"arrayValue":{"values":['.repeat(20_000)}${']}}'.repeat(20_000)}}]}}]}`,
      {},
      400,
      'too many levels',
    ],
    ['x', { 'content-encoding': 'gzip' }, 400, 'body is not gzip'],
    ['x', { 'content-encoding': 'br' }, 415, 'not by br'],
    [gzipSync(Buffer.alloc(9_000_000)), { 'content-encoding': 'gzip' }, 413, 'when it is unpacked'],
    ['x', { 'content-type': 'text/plain' }, 415, 'must be application/json or application/x-protobuf, not text/plain'],
    ['x', { 'x-api-key': 'wrong' }, 401, 'key'],
  ] as const)('is refused: %#', async (body, headers, status, message) => {
    const { post, call } = await start()
    const answer = await post(body, headers)
    expect(answer.status).toBe(status)
    expect(answer.bytes.toString()).toContain(message)
    const rejected = async () => (await call('GET', '/api/rejected')).body.items
    await expect
      .poll(rejected)
      .toEqual([
        expect.objectContaining({ path: '/otlp/demo/v1/logs', status, reason: expect.stringContaining(message) }),
      ])
  })

  it('is refused where it is too long', async () => {
    const { post } = await start()
    const { status, bytes } = await post('x'.repeat(4_194_305))
    expect(status).toBe(413)
    expect(JSON.parse(bytes.toString())).toEqual({ code: 8, message: 'body must not have more than 4194304 bytes' })
  })

  const bombs: readonly (readonly [string, Buffer, string])[] = [
    ['10,001 records', records(10_001), 'body must not have more than 10000 records'],
    ['10,001 scopes', field(1, repeated(10_001, field(2, []))), 'body must not have more than 10000 scopes'],
    [
      'a name of 1 MB that 4,000 records repeat',
      field(1, field(2, [...field(1, field(1, repeated(1_000_000, [97]))), ...repeated(4000, field(2, []))])),
      'body must not have more than 33554432 characters when its records are written out',
    ],
    [
      'a record of 10,001 values',
      field(1, field(2, field(2, repeated(10_001, field(6, []))))),
      'body must not have more than 10000 values in a record',
    ],
    [
      'a resource of 10,001 values',
      field(1, field(1, repeated(10_001, field(1, [])))),
      'body must not have more than 10000 values in its resources',
    ],
  ]
  it.each(rowsOf(bombs, ([name]) => name.startsWith('a name')))(
    'is refused where few bytes stand for much: %s',
    async (_, bytes, message) => {
      const { post, stored } = await start()
      const headers = { 'content-encoding': 'gzip' }
      const answer = await post(gzipSync(Buffer.from(bytes)), { ...protobuf, ...headers })
      expect(answer.status).toBe(413)
      expect(answer.bytes.toString()).toContain(message)
      expect(answer.bytes.subarray(0, 2)).toEqual(Buffer.from([0x08, 8]))
      expect(await stored()).toEqual([])
    },
  )

  it.each([
    [{ resourceLogs: [{ scopeLogs: [{ logRecords: Array(10_001).fill({}) }] }] }, '10000 records'],
    [{ resourceLogs: [{ scopeLogs: Array(10_001).fill({}) }] }, '10000 scopes'],
    [request([{ attributes: Array(10_001).fill({ key: 'a' }) }]), '10000 values in a record'],
  ])('is refused where it has too much, in JSON: %#', async (body, message) => {
    const { post } = await start()
    const answer = await post(JSON.stringify(body))
    expect(answer.status).toBe(413)
    expect(JSON.parse(answer.bytes.toString())).toEqual({ code: 8, message: expect.stringContaining(message) })
  })

  it.runIf(full)('does not keep others waiting while many records are mapped', async () => {
    const { post, call } = await start()
    const turns: number[] = []
    const long = post(gzipSync(Buffer.from(records(10_000))), { ...protobuf, 'content-encoding': 'gzip' })
    let done = false
    void long.then(() => (done = true))
    while (!done) {
      await call('GET', '/api/health')
      turns.push(1)
    }
    expect((await long).status).toBe(200)
    expect(turns.length).toBeGreaterThan(3)
  })

  it('names a bucket that there is not', async () => {
    const { url, apiKey } = await start()
    const answer = await fetch(`${url}/otlp/other/v1/logs`, { method: 'POST', headers: { 'x-api-key': apiKey! } })
    expect(answer.status).toBe(404)
  })

  it('is answered in protobuf where it came in protobuf', async () => {
    const { post } = await start()
    const { status, type, bytes } = await post(Buffer.from([0x0a, 0x7f]), protobuf)
    expect({ status, type }).toEqual({ status: 400, type: 'application/x-protobuf' })
    expect(bytes.subarray(0, 3)).toEqual(Buffer.from([0x08, 3, 0x12]))
    expect(bytes.toString()).toContain('body is cut, or is no protobuf')
  })

  it.runIf(full)('is refused or taken at once, whatever its bytes are', async () => {
    const { post } = await start()
    const whole = Buffer.from(
      field(1, [
        ...field(1, field(1, field(1, Buffer.from('a')))),
        ...field(2, field(2, [0x09, ...le64(5n), ...field(5, field(5, field(1, field(1, Buffer.from('x')))))])),
      ]),
    )
    expect((await post(whole, protobuf)).status).toBe(200)
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.nat(whole.length - 1).map((end) => whole.subarray(0, end)),
      fc.tuple(fc.nat(whole.length - 1), fc.nat(255)).map(([place, byte]) => {
        const changed = Buffer.from(whole)
        changed[place] = byte
        return changed
      }),
      // Lengths of billions, and messages within messages.
      fc
        .tuple(fc.constantFrom(0x0a, 0x12, 0x2a, 0x32), fc.nat(500))
        .map(([tag, count]) =>
          Buffer.from(Array.from({ length: count }, () => [tag, 0xff, 0xff, 0xff, 0xff, 0x0f]).flat()),
        ),
    )
    await fc.assert(
      fc.asyncProperty(bytes, async (each) => {
        expect([200, 400]).toContain((await post(Buffer.from(each), protobuf)).status)
      }),
      { numRuns: 400 },
    )
  })
})

function request(logRecords: object[]) {
  return { resourceLogs: [{ scopeLogs: [{ logRecords }] }] }
}

/** A field of protobuf with a length. */
function field(number: number, content: Iterable<number>): Buffer {
  const bytes = Buffer.from([...content])
  const length: number[] = []
  for (let left = bytes.length; ; left >>= 7) {
    length.push(left < 128 ? left : (left & 127) | 128)
    if (left < 128) break
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes])
}

function repeated(count: number, bytes: Iterable<number>): Buffer {
  const one = Buffer.from([...bytes])
  return Buffer.alloc(one.length * count, one)
}

/** A request with empty records, in protobuf. */
function records(count: number): Buffer {
  return field(1, field(2, repeated(count, field(2, []))))
}

function le64(value: bigint): number[] {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return [...bytes]
}
