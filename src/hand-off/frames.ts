import type { DrainMode } from '../control/control-block.js'
import type { Engine } from '../engine/engine.js'
import type { KeyedValue, PinoLine } from '../engine/ports.js'
import { type LineFacts, logHead, type MappedLog, type WrittenHead } from '../records/encode.js'
import type { Severity } from '../records/level.js'
import type { PinoStyle } from '../records/pino-line.js'
import type { WinstonLine } from '../records/winston-line.js'
import type { DrainRequest } from './drain-requests.js'

/**
 * A line of text from the application's thread to the delivery worker. Its first character is the type:
 *
 *     0…6 log   r log with something hidden   a log with facts   u log that is left out   w winston   p pino   v value
 *     i value with a key   b record of a line below the level
 *     s style of a pino logger   f k c drains   F K C brief drains   e engine of the following lines
 *
 * JSON contains no raw line ends: a line is always whole.
 */
export type Frame =
  | ({ readonly type: 'log' } & WrittenHead)
  | { readonly type: 'sampled-out' }
  | ({ readonly type: 'winston'; readonly line: string } & WinstonLine)
  | {
      readonly type: 'pino'
      readonly severity: Severity
      readonly style: number
      readonly arrivedAt: number
      readonly line: string
      readonly below?: boolean
    }
  | { readonly type: 'style'; readonly number: number; readonly style: PinoStyle }
  | { readonly type: 'value'; readonly eventId: number; readonly milliseconds: number }
  | ({ readonly type: 'keyed' } & KeyedValue)
  | ({ readonly type: 'drain'; readonly mode: DrainMode } & DrainFrame)

/** Stands for a log record that is left out. */
type DrainFrame = Pick<DrainRequest, 'request' | 'timeoutMs' | 'brief'>

export const sampledOutFrame = 'u\n'

export function logFrame({ severity, head, redacted = false, facts, below = false }: WrittenHead): string {
  const about = facts === undefined ? '' : factsStart(facts)
  return `${below ? belowStart : ''}${about}${redacted ? 'r' : ''}${severity}${head}\n`
}

function factsStart(facts: LineFacts): string {
  const json = JSON.stringify(facts)
  return `a${json.length},${json}`
}

/** Precedes the frame of a line below the level. */
const belowStart = 'b'

/** The start of a winston frame. The line, which is JSON, and a line end follow. */
export function winstonStart({ level, severity, arrivedAt }: WinstonLine): string {
  return `w${severity}${arrivedAt},${encodeURIComponent(level.toWellFormed())},`
}

/** The start of a pino frame. The line and a line end follow. */
export function pinoStart(style: number, { severity, arrivedAt }: { severity: Severity; arrivedAt: number }): string {
  return `p${severity}${style},${arrivedAt},`
}

/** Announces the style that pino frames refer to by number. A second announcement has no effect. */
export function styleFrame(number: number, style: PinoStyle): string {
  return `s${number},${JSON.stringify(style)}\n`
}

export const lineEnd = '\n'

/** A value frame is this, the number of the event, and {@link valueEnd}. */
export const valueStart = 'v'

export function valueEnd(milliseconds: number): string {
  return `,${milliseconds}\n`
}

/** A key contains no line end. */
export function keyedFrame({ eventId, milliseconds, key }: KeyedValue): string {
  return `i${eventId},${milliseconds},${key}\n`
}

const drainLetters: Readonly<Record<DrainMode, string>> = { flush: 'f', park: 'k', close: 'c' }
const drainModes = new Map(Object.entries(drainLetters).map(([mode, letter]) => [letter, mode as DrainMode]))

/** Announces that the following lines are for the engine with this number. */
export function engineFrame(engine: number): string {
  return `e${engine}\n`
}

/** A drain travels with the records: it reaches the engine after all records that were handed over before it. */
export function drainFrame(mode: DrainMode, { request, timeoutMs, brief }: DrainFrame): string {
  const letter = drainLetters[mode]
  return `${brief === true ? letter.toUpperCase() : letter}${request},${timeoutMs}\n`
}

/** True for a line that carries a record. */
export function isRecord(line: string): boolean {
  return isRecordCode(line.charCodeAt(0))
}

/** True for the first character of a line that carries a record. */
export function isRecordCode(first: number): boolean {
  if (first >= zeroCode && first <= nineCode) return true
  return recordCodes.has(first)
}

export function isValue(line: string): boolean {
  return isValueCode(line.charCodeAt(0))
}

function isValueCode(first: number): boolean {
  return first === valueCode || first === keyedCode
}

export function readFrame(line: string): Frame {
  const kind = line[0]
  const mode = kind === undefined ? undefined : drainModes.get(kind.toLowerCase())
  if (kind === 'v' || mode !== undefined) {
    const comma = line.indexOf(',')
    const first = Number(line.slice(1, comma))
    const second = Number(line.slice(comma + 1))
    if (mode === undefined) return { type: 'value', eventId: first, milliseconds: second }
    return { type: 'drain', mode, request: first, timeoutMs: second, ...(kind! < 'a' && { brief: true }) }
  }
  if (kind === 'i') {
    const [eventId, milliseconds] = line.slice(1).split(',', 2)
    const key = line.slice(line.indexOf(',', line.indexOf(',') + 1) + 1)
    return { type: 'keyed', eventId: Number(eventId), milliseconds: Number(milliseconds), key }
  }
  if (kind === 'w' || kind === 'p') {
    const afterFirst = line.indexOf(',')
    const afterSecond = line.indexOf(',', afterFirst + 1)
    const severity = Number(line[1]) as Severity
    const first = Number(line.slice(2, afterFirst))
    const second = line.slice(afterFirst + 1, afterSecond)
    const rest = line.slice(afterSecond + 1)
    return kind === 'w'
      ? { type: 'winston', severity, arrivedAt: first, level: decodeURIComponent(second), line: rest }
      : { type: 'pino', severity, style: first, arrivedAt: Number(second), line: rest }
  }
  if (kind === 's') {
    const comma = line.indexOf(',')
    return {
      type: 'style',
      number: Number(line.slice(1, comma)),
      style: JSON.parse(line.slice(comma + 1)) as PinoStyle,
    }
  }
  if (kind === 'u') return { type: 'sampled-out' }
  if (kind === 'b') return { ...(readFrame(line.slice(1)) as Frame & { readonly type: 'log' }), below: true }
  if (kind === 'a') {
    const from = line.indexOf(',') + 1
    const to = from + Number(line.slice(1, from - 1))
    const facts = JSON.parse(line.slice(from, to)) as LineFacts
    return { ...(readFrame(line.slice(to)) as Frame & { readonly type: 'log' }), facts }
  }
  const redacted = kind === 'r'
  const at = redacted ? 1 : 0
  return { type: 'log', severity: Number(line[at]) as Severity, head: line.slice(at + 1), redacted }
}

/** Give the record of a line to its engine. Never throws, whatever the line is. */
export function deliverLine(engine: Engine, line: string, styles: readonly PinoStyle[]): void {
  try {
    deliverFrame(engine, readFrame(line), styles)
  } catch (error) {
    engine.unreadableLine(error)
  }
}

function deliverFrame(engine: Engine, frame: Frame, styles: readonly PinoStyle[]): void {
  switch (frame.type) {
    case 'log':
      engine.logHead(frame)
      return
    case 'sampled-out':
      engine.sampledOut()
      return
    case 'winston':
      engine.winstonLine(frame.line, frame)
      return
    case 'pino':
      engine.pinoLine(frame.line, { ...frame, style: styles[frame.style] ?? {} })
      return
    case 'value':
      engine.value(frame.eventId, frame.milliseconds)
      return
    case 'keyed':
      engine.keyedValue(frame)
  }
}

/** First character of a frame that {@link engineFrame} makes. */
export const engineCode = 'e'.charCodeAt(0)
const valueCode = 'v'.charCodeAt(0)
const recordCodes: ReadonlySet<number> = new Set([...'viwprabu'].map((letter) => letter.charCodeAt(0)))
const keyedCode = 'i'.charCodeAt(0)
const zeroCode = '0'.charCodeAt(0)
const nineCode = '9'.charCodeAt(0)

/** Writes frames. It reuses parts of the last frame where they are the same: the beginning of a winston line, the time of a value. */
export class FrameWriter {
  readonly #announce: (styleFrame: string) => void
  /** Styles of pino loggers, by number. */
  readonly #styles: PinoStyle[] = []
  #startedAt = 0
  #startedLevel = ''
  /** Loggers with levels of their own may give one name several severities. */
  #startedSeverity: Severity = 0
  #start = ''
  #valueMilliseconds = 0
  #valueEnd = valueEnd(0)

  /** @param announce takes a frame that must precede the next result of {@link pino} */
  constructor(announce: (styleFrame: string) => void) {
    this.#announce = announce
  }

  get styles(): readonly PinoStyle[] {
    return this.#styles
  }

  log({ fields, sampledOut, ...about }: MappedLog): string {
    return sampledOut ? sampledOutFrame : logFrame({ ...about, head: logHead(fields) })
  }

  winston(line: string, { level, severity, arrivedAt, below }: WinstonLine): string {
    if (arrivedAt !== this.#startedAt || level !== this.#startedLevel || severity !== this.#startedSeverity) {
      this.#startedAt = arrivedAt
      this.#startedLevel = level
      this.#startedSeverity = severity
      this.#start = winstonStart({ level, severity, arrivedAt })
    }
    return (below ? belowStart : '') + this.#start + line + lineEnd
  }

  pino(line: string, { style, severity, arrivedAt, below }: PinoLine): string {
    let number = this.#styles.indexOf(style)
    if (number === -1) {
      number = this.#styles.push(style) - 1
      this.#announce(styleFrame(number, style))
    }
    return (below ? belowStart : '') + pinoStart(number, { severity, arrivedAt }) + line + lineEnd
  }

  value(eventId: number, milliseconds: number): string {
    if (milliseconds !== this.#valueMilliseconds) {
      this.#valueMilliseconds = milliseconds
      this.#valueEnd = valueEnd(milliseconds)
    }
    return valueStart + eventId + this.#valueEnd
  }

  /** The frames that a new worker needs before all others. */
  allStyles(): string {
    return this.#styles.map((style, number) => styleFrame(number, style)).join('')
  }
}
