import { hostname } from 'node:os'
import { stripVTControlCharacters } from 'node:util'
import type { ResolvedOptions } from '../../options/options.js'
import type { MappedLog } from '../../records/encode.js'
import { mapPinoLine, type PinoMapping, pinoMapper } from '../../records/pino-line.js'
import { levelOf, winstonMapper } from '../../records/winston-info.js'

export type LineFormat = 'pino' | 'winston' | 'text'

const LEVEL = Symbol.for('level')
/** `2024-05-01 12:00:00.123`, as winston's `timestamp` format writes it when it is told how, in the time of the machine. */
const localTime = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})?$/i
const info = 30

/**
 * Makes records of lines, each by its own format, for a program may write more than its logger does: pino (a numeric `level`, or `msg`),
 * winston's json format (a `level` that is a text, with `message` or `timestamp`), and everything else as text of level info that has
 * the time of its arrival.
 */
export class LineMapper {
  readonly #pino: ReturnType<typeof pinoMapper>
  readonly #winston: ReturnType<typeof winstonMapper>
  readonly #ownHosts: ReadonlySet<unknown>

  constructor(options: PinoMapping & Pick<ResolvedOptions, 'machineName'>) {
    this.#pino = pinoMapper(options)
    this.#winston = winstonMapper(options)
    this.#ownHosts = new Set([options.machineName, hostname()])
  }

  /** Never throws: a line of which no logger's record can be made is text. */
  map(line: string, arrivedAt: number): MappedLog {
    try {
      const fields = parsed(line)
      const format = formatOf(fields)
      if (format === 'pino') return mapPinoLine(this.#pino, line, { arrivedAt, isBase: this.#isBase })
      if (format === 'winston') return this.#winston(winstonInfo(fields!), { arrivedAt })
    } catch {}
    return this.#pino.parsed({ level: info, msg: line }, { arrivedAt })
  }

  /** Which machine wrote a line is told by the record only when it was this one. */
  readonly #isBase = (key: 'pid' | 'hostname' | 'name', value: unknown): boolean =>
    key !== 'hostname' || this.#ownHosts.has(value)
}

/** Which logger has written these fields. */
export function formatOf(fields: Readonly<Record<string, unknown>> | undefined): LineFormat {
  if (fields === undefined) return 'text'
  const { level, message, timestamp, msg } = fields
  if (typeof level === 'number' || typeof msg === 'string') return 'pino'
  if (typeof level === 'string' && (message !== undefined || timestamp !== undefined)) return 'winston'
  return 'text'
}

function parsed(line: string): Record<string, unknown> | undefined {
  if (!/^\s*\{/.test(line)) return undefined
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return undefined
  }
}

/** As winston would have handed it over: without the colours of the level, and with a time that no zone goes with read as one of here. */
function winstonInfo(fields: Readonly<Record<string, unknown>>): Record<string | symbol, unknown> {
  const { timestamp } = fields
  const level = stripVTControlCharacters(levelOf(fields)).trim()
  const isLocal = typeof timestamp === 'string' && localTime.test(timestamp)
  const time = isLocal ? new Date(timestamp.replace(' ', 'T').replace(',', '.')) : undefined
  const isTime = time !== undefined && !Number.isNaN(time.getTime())
  return { ...fields, ...(isTime ? { timestamp: time } : {}), [LEVEL]: level }
}
