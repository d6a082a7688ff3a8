import fc from 'fast-check'
import type { IsOwn } from '../../src/records/line-head.js'
import type { LineMapping } from '../../src/records/line-style.js'
import { eventFields, redactors, scalarsOfLines } from './plain-lines.js'

/** Time of most lines, in milliseconds. */
const time = 1_700_000_000_000
/** The start of most lines. */
export const pinoHead = `{"level":30,"time":${time},"pid":1,"hostname":"h"`

const keys = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('a', 'b', 'orderId', 'msg', 'message', 'err', 'error', 'severity', '', '\ufffd'),
  },
  fc.constantFrom('level', 'time', 'pid', 'hostname', 'name', 'eventId', '__proto__', 'toJSON', '0', '17', '-1', '01'),
  fc.constantFrom('lvl', 'status', 'log', 'log.level', 'timestamp', '@timestamp'),
  fc.string({ unit: 'grapheme' }),
  fc.string(),
)
const pinoFields = fc.array(
  fc.oneof(
    {
      weight: 9,
      arbitrary: fc.tuple(
        fc.oneof(
          keys,
          keys.map((key) => JSON.stringify(key).slice(1, -1)),
        ),
        scalarsOfLines,
      ),
    },
    eventFields,
  ),
  { maxLength: 6 },
)
const levels = fc.constantFrom('30', '50', '35', '10', '5', '100', '03', '-3', '"30"', '3.', '1e1')
const times = fc.constantFrom(
  time,
  time + 1,
  time + 1111,
  '0123456789012',
  1_700_000_000,
  '"2023-11-14T22:13:20.123Z"',
  '0x123456789ab',
  '1e12         ',
)
const pinoHeads = fc.oneof(
  { weight: 4, arbitrary: fc.constant(pinoHead) },
  fc.constantFrom(
    `{"level":30,"time":${time}`,
    `${pinoHead},"name":"shop"`,
    `{"level":40,"time":${time},"pid":7`,
    `{"level":40,"time":${time},"name":"shop"`,
    `{"level":60,"time":${time},"hostname":"h","pid":1`,
    `{"level":60,"time":${time},"pid":01,"hostname":"h"`,
    '{',
  ),
  fc.tuple(levels, times).map(([level, time]) => `{"level":${level},"time":${time},"pid":1,"hostname":"h"`),
)
const ends = fc.oneof({ weight: 8, arbitrary: fc.constant('}') }, fc.constantFrom(',}', '', '} ', '}}', ',"msg":"m"}}'))
export const pinoLines = fc
  .tuple(pinoHeads, pinoFields, ends)
  .map(([start, all, end]) => start + all.map(([key, value]) => `,"${key}":${value}`).join('') + end)
export const pinoMappings: fc.Arbitrary<LineMapping> = fc.record({
  context: fc.constantFrom('json', 'logfmt', 'none'),
  maxMessageBytes: fc.constantFrom(256, 32_768),
  timestampUnit: fc.constantFrom('ms', 's'),
  redactor: redactors,
  messageKey: fc.constantFrom('msg', 'message', 'err', 'eventId', 'name', 'time', '7', '\ud800'),
  isOwn: fc.constantFrom<IsOwn>(
    () => true,
    () => false,
    (key) => key === 'pid',
    (key, value) => key === 'hostname' && value === 'h',
  ),
})
