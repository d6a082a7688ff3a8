import { describe, expect, it } from 'vitest'
import { LineSplitter } from '../../packages/tools/src/line-splitter.js'
import { readEntry } from '../../packages/tools/src/migrate/entry.js'
import { formatOf, LineMapper } from '../../packages/tools/src/ship/line-mapper.js'
import { shippedText } from '../../packages/tools/src/ship/shipment.js'
import { oneLine } from '../../src/errors/text-of.js'
import { LineIntake } from '../../src/loggers/line-intake.js'
import { sluicePinoOptions } from '../../src/loggers/pino-options.js'
import { winstonLine as lineOfInfo } from '../../src/loggers/winston-line.js'
import { nearestName } from '../../src/options/nearest-name.js'
import { resolve } from '../../src/options/resolve.js'
import { PipeReader } from '../../src/pipe/pipe-reader.js'
import { PipeWriter } from '../../src/pipe/pipe-writer.js'
import { lineMapper } from '../../src/records/line.js'
import { cutToBytes } from '../../src/records/message.js'
import { scanLines } from '../../src/spool/line-scanner.js'
import { lineMiddle, readSpoolLine, spoolLine } from '../../src/spool/spool-line.js'
import { adversarialText, adversarialTexts } from '../support/adversarial-texts.js'
import { superLinear } from '../support/linear-time.js'
import { pipeOf } from '../support/pipe.js'

const arrivedAt = 1_700_000_000_000
const MESSAGE = Symbol.for('message')
/** Nothing is cut: a bound must not hide slow work. */
const style = { context: 'json', maxMessageBytes: 2 ** 28, timestampUnit: 'ms' } as const
const about = { arrivedAt }
const pinoHead = `"level":30,"time":${arrivedAt},"pid":1,"hostname":"h"`

type Take = (text: string) => unknown

const pino = lineMapper(style)
const logfmt = lineMapper({ ...style, context: 'logfmt' })
const cut = lineMapper({ ...style, maxMessageBytes: 32_768 })
const pinoLine = (line: string, map = pino) => JSON.stringify(map(line, about).fields)
const winston = lineMapper({ ...style, logger: 'winston', level: 'info' })
const winstonLine = (line: string, errors?: string) => JSON.stringify(winston(line, { ...about, errors }).fields)
const winstonInfo = (fields: object) => {
  const { text, errors } = lineOfInfo({ message: 'm', ...fields }, { maxChars: 2 ** 28, redactor: undefined })
  return winstonLine(text, errors)
}
const shipped = new LineMapper({ ...style, machineName: 'h' })
const spoolMiddle = lineMiddle({ kind: 'logs', bucket: 'b', severity: 2 })

function errorWith(stack: string, message = 'boom'): Error {
  return Object.assign(new Error(message), { stack })
}

/** A text where JSON has one. */
const json = (text: string) => JSON.stringify(text)

const ways: Readonly<Record<string, Take>> = {
  'a line of pino': (text) => pinoLine(text),
  'a line of pino, with the text unquoted': (text) => pinoLine(`{"level":30,"time":1,"msg":"${text}"}`),
  'a message of pino': (text) => pinoLine(`{${pinoHead},"msg":${json(text)}}`),
  'a level of pino': (text) => pinoLine(`{"level":${json(text)},"time":1,"msg":"m"}`),
  'a level of pino under another name': (text) => pinoLine(`{"severity":${json(text)},"time":1,"msg":"m"}`),
  'a time of pino': (text) => pinoLine(`{"level":30,"time":${json(text)},"msg":"m"}`),
  'a host name of pino': (text) =>
    pinoLine(`{"level":30,"time":1,"pid":1,"hostname":${json(text)},"name":${json(text)}}`),
  'a key of pino': (text) => pinoLine(`{${pinoHead},${json(text)}:1}`),
  'a field of pino as logfmt': (text) =>
    pinoLine(`{${pinoHead},${json(text.slice(0, text.length / 2))}:${json(text.slice(text.length / 2))}}`, logfmt),
  'a field of pino that is cut': (text) => pinoLine(`{${pinoHead},"a":${json(text)}}`, cut),
  'an error of pino': (text) =>
    pinoLine(`{${pinoHead},"err":{"type":"Error","message":${json(text)},"stack":${json(text)}}}`),
  'a message of winston': (text) => winstonInfo({ message: text }),
  'a coloured message of winston': (text) => winstonInfo({ level: '\u001b[31minfo', message: text }),
  'a time of winston': (text) => winstonInfo({ timestamp: text }),
  'a level of winston': (text) => winstonInfo({ level: text }),
  'a field of winston': (text) => winstonInfo({ [text]: text }),
  'an error of winston': (text) => winstonInfo({ err: errorWith(text) }),
  'an error of winston that is coloured': (text) =>
    winstonInfo({ level: '\u001b[31minfo', message: text, stack: text }),
  'an error whose message has changed': (text) => winstonInfo({ err: errorWith(`Error: ${text}${text}`, `x${text}`) }),
  'an error whose message has changed in the middle': (text) =>
    winstonInfo({
      err: errorWith(text + text, `${text.slice(0, text.length / 2)}\u0001${text.slice(text.length / 2)}`),
    }),
  'a line of winston’s json': (text) => winstonLine(`{"level":"info","message":${json(text)},"a":${json(text)}}`),
  'a time in a line of winston’s json': (text) => winstonLine(`{"timestamp":${json(text)},"message":"m"}`),
  'an error of winston whose JSON has been written': (text) =>
    winstonInfo({ err: errorWith(text, text), [MESSAGE]: `{"message":${json(text)},"err":{}}` }),
  'a message that is cut': (text) => cutToBytes(text, 1000),
  'an argument of pino with sluicePinoOptions': (text) => {
    const { formatters } = sluicePinoOptions({})
    formatters?.log?.({ text, error: errorWith(text), list: [errorWith(text)] })
  },
  'a line of sluice ship': (text) => shipped.map(text, arrivedAt),
  'a line of winston for sluice ship': (text) =>
    shipped.map(json2({ level: text, message: 'm', timestamp: text }), arrivedAt),
  'the lines of an input of sluice ship': (text) => {
    const splitter = new LineSplitter()
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += 65_536) for (const _ of splitter.push(bytes.subarray(at, at + 65_536)));
    splitter.end()
  },
  'an entry of sluice migrate': (text) => entry(text),
  'a member of an entry': (text) => entry(json2({ [text]: text, createdAt: text, fields: {} })),
  'the lines of pino’s worker': (text) => {
    const intake = new LineIntake({ take: () => {}, close: async () => {}, isRoomy: () => true })
    for (let at = 0; at < text.length; at += 8192) intake._write(text.slice(at, at + 8192), 'utf8', () => {})
  },
  'a file of a spool': (text) => {
    scanLines(Buffer.from(text), readSpoolLine)
  },
  'a record of a spool': (text) => {
    const body = `{"message":${json(text)}}`
    return readSpoolLine(
      Buffer.from(spoolLine({ number: 0, idempotencyKey: 'k', time: 1, body }, { middle: spoolMiddle })),
    )
  },
  'a line in a pipe': (text) => throughPipe(text),
  'a line for people': (text) => oneLine(text),
  'the name of an option': (text) => nearestName(text, ['url', 'apiKey', 'spoolMaxAgeHours']),
  'a wrong URL': (text) => attempt(() => resolve({ url: `${text}\n` }, { environment: {}, needs: 'logs' })),
  'a URL': (text) =>
    attempt(() => resolve({ url: `https://h/${text}`, apiKey: 'k', bucket: 'b' }, { environment: {}, needs: 'logs' })),
  'a variable': (text) =>
    attempt(() =>
      resolve({}, { environment: { SLUICE_URL: `"${text}`, OTEL_RESOURCE_ATTRIBUTES: text }, needs: 'logs' }),
    ),
}

const pipe = pipeOf(65_536)
const pipeWriter = new PipeWriter(pipe)
const pipeReader = new PipeReader(pipe)

/** A long line goes in parts, through a ring that has no room for all of them at once. */
function throughPipe(text: string): void {
  let taken = 0
  const sink = { taken: () => taken, value() {}, keyed() {}, text: () => taken++, unreadable() {} }
  pipeWriter.text({ kind: 'line', severity: 2, marks: 0, time: 0, style: 0 }, text)
  do pipeReader.take(sink, Number.POSITIVE_INFINITY)
  while (!pipeWriter.push(0) || pipeWriter.bytes > 0)
  if (taken !== 1) throw new Error('the line did not come')
}

function json2(value: object): string {
  return JSON.stringify(value)
}

function entry(text: string): unknown {
  const bytes = Buffer.from(text)
  const line = { number: 1, bytes, size: bytes.length, ended: true, tooLong: false }
  return [readEntry(line), shippedText(line), formatOf(undefined)]
}

/** Passes if a ConfigError is thrown. */
function attempt(work: () => unknown): void {
  try {
    work()
  } catch (error) {
    if ((error as Error).name !== 'ConfigError') throw error
  }
}

describe('the time for', () => {
  it.each(Object.entries(ways))('%s grows with the length alone, whatever is in it', (_, take) => {
    const slow = Object.keys(adversarialTexts).flatMap((shape) => {
      const found = superLinear((length) => {
        const text = adversarialText(shape, length)
        return () => take(text)
      })
      return found === undefined ? [] : [`${shape}: ${found}`]
    })
    expect(slow).toEqual([])
  })
})
