import fc from 'fast-check'
import type { LineMapping } from '../../src/records/line-style.js'
import { eventFields, redactors, scalarsOfLines } from './plain-lines.js'

const keys = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'orderId', 'level', 'message', 'timestamp', 'err', 'error', '') },
  fc.constantFrom('stack', 'cause', 'errors', 'eventId', '__proto__', 'toJSON', 'constructor', '0', '17', '-1', '01'),
  fc.constantFrom('@message', 'msg', '@timestamp'),
  fc.string({ unit: 'grapheme' }),
)
const times = fc.constantFrom(
  '"2023-11-14T22:13:20.123Z"',
  '1700000000',
  '"14.11.2023"',
  '"soon"',
  '"2023-11-14T22:13:20+02:00"',
)
/** Fields of lines, their values as JSON. */
const winstonFields = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.tuple(keys, scalarsOfLines) },
    fc.tuple(fc.constant('timestamp'), times),
    eventFields,
    fc.tuple(
      fc.constant('message'),
      fc.string().map((text) => JSON.stringify(text)),
    ),
    fc.constant(['level', '"info"'] as const),
  ),
  { maxLength: 6 },
)
const ends = fc.oneof(
  { weight: 8, arbitrary: fc.constant('}') },
  fc.constantFrom(',}', '', '} ', '}}', ',"message":"m"}}'),
)
export const winstonLines = fc
  .tuple(fc.constantFrom('{"message":"m",', '{"message":"m",', '{', '', ',', '{,'), winstonFields, ends)
  .map(([start, all, end]) => start + all.map(([key, value]) => `"${key}":${value}`).join(',') + end)
export const winstonMappings: fc.Arbitrary<LineMapping> = fc.record({
  context: fc.constantFrom('json', 'logfmt', 'none'),
  maxMessageBytes: fc.constantFrom(256, 32_768),
  timestampUnit: fc.constantFrom('ms', 's'),
  redactor: redactors,
  logger: fc.constant('winston'),
  level: fc.constantFrom('info', 'error', 'gold', undefined),
})
