import { ok } from 'node:assert/strict'
import type { LogRecord } from 'sluice'
import { readJson } from '../../../packages/receiver/src/otlp/json.js'
import { logRecordOf } from '../../../packages/receiver/src/otlp/log-record.js'
import { logsOf, OtlpError, RequestBounds } from '../../../packages/receiver/src/otlp/logs.js'
import { readProtobuf } from '../../../packages/receiver/src/otlp/protobuf.js'
import { Input, seed } from '../input.js'

const json = {
  resourceLogs: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] },
      scopeLogs: [
        {
          scope: { name: 'checkout' },
          logRecords: [
            {
              timeUnixNano: '1700000000000000000',
              severityNumber: 9,
              severityText: 'INFO',
              body: { stringValue: 'hello' },
              attributes: [
                { key: 'a', value: { intValue: '9007199254740993' } },
                { key: 'b', value: { doubleValue: 'NaN' } },
                { key: 'c', value: { arrayValue: { values: [{ boolValue: true }, { bytesValue: 'AQ==' }] } } },
                { key: 'd', value: { kvlistValue: { values: [{ key: '__proto__', value: {} }] } } },
              ],
              traceId: '0af7651916cd43dd8448eb211c80319c',
              spanId: 'b7ad6b7169203331',
              eventName: 'e',
            },
          ],
        },
      ],
    },
  ],
}
/** One record in protobuf: time, number and text of its severity, body, an attribute, ids. */
const record = Buffer.concat([
  Buffer.from('0900002a7d8a2a971710091a04494e464f2a070a0568656c6c6f', 'hex'),
  Buffer.from('320a0a0161120518ffffffff0f', 'hex').subarray(0, 12),
  Buffer.from('4a100af7651916cd43dd8448eb211c80319c5208b7ad6b7169203331', 'hex'),
])
const within = (field: number, bytes: Buffer) => Buffer.concat([Buffer.from([field * 8 + 2, bytes.length]), bytes])

export const seeds = [
  seed([0], JSON.stringify(json)),
  seed([0], '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":-1,"body":{"doubleValue":1e400}}]}]}]}'),
  seed([1], within(1, within(2, within(2, record)))),
  seed([1], within(1, within(2, within(2, record.subarray(0, 26))))),
]

/** A body gives records that the receiver can store, or one `OtlpError`. */
export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const isJson = input.below(2) === 0
  const bounds = new RequestBounds(100)
  const mapped: LogRecord[] = []
  try {
    const scopes = isJson ? readJson(JSON.parse(input.text()), bounds) : readProtobuf(input.rest(), bounds)
    for (const log of logsOf(scopes)) mapped.push(logRecordOf(log).record)
  } catch (error) {
    ok(error instanceof OtlpError || (isJson && error instanceof SyntaxError), `another error: ${error}`)
  }
  for (const { message, level, timeStamp, appName } of mapped) {
    ok(typeof message === 'string' && typeof level === 'string' && level !== '', 'a record has no message or level')
    ok(typeof appName === 'string' && appName !== '', 'a record has no name of an application')
    ok(Number.isSafeInteger(timeStamp) && timeStamp >= 0, `the time of a record is ${timeStamp}`)
  }
}
