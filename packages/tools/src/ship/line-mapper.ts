import { hostname } from 'node:os'
import { stripVTControlCharacters } from 'node:util'
import type { ResolvedOptions } from '../../../../src/options/options.js'
import type { MappedLog } from '../../../../src/records/encode.js'
import { parseJson } from '../../../../src/records/long-numbers.js'
import { mapPinoLine, type PinoMapping, pinoMapper } from '../../../../src/records/pino-line.js'
import { redacting } from '../../../../src/records/redactor.js'
import { levelOf, winstonMapper } from '../../../../src/records/winston-info.js'

export type LineFormat = 'pino' | 'winston' | 'text'

const LEVEL = Symbol.for('level')
/** A time such as `2024-05-01 12:00:00.123`, as winston's `timestamp` format writes it with a `format` option: local time. */
const localTime = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})?$/i
const info = 30

/**
 * Maps lines to records. A program may write more than its logger does, so the format of each line is recognised: pino (a numeric `level`, or
 * `msg`), winston's json format (`level` is a string, with `message` or `timestamp`), or text, of level info with the time of its arrival.
 */
export class LineMapper {
  readonly #pino: ReturnType<typeof pinoMapper>
  readonly #winston: ReturnType<typeof winstonMapper>
  readonly #ownHosts: ReadonlySet<unknown>

  constructor(options: PinoMapping & Pick<ResolvedOptions, 'machineName'> & Partial<Pick<ResolvedOptions, 'redact'>>) {
    const mapping = redacting(options)
    this.#pino = pinoMapper(mapping)
    this.#winston = winstonMapper(mapping)
    this.#ownHosts = new Set([options.machineName, hostname()])
  }

  /** Never throws: a line that cannot be mapped as a logger's is text. */
  map(line: string, arrivedAt: number): MappedLog {
    try {
      const fields = parsed(line)
      const format = formatOf(fields)
      if (format === 'pino') return mapPinoLine(this.#pino, line, { arrivedAt, isBase: this.#isBase })
      if (format === 'winston') return this.#winston(winstonInfo(fields!), { arrivedAt })
    } catch {}
    return this.#pino.parsed({ level: info, msg: line }, { arrivedAt })
  }

  /** The record itself names this machine. The host name of another machine is kept in the message. */
  readonly #isBase = (key: 'pid' | 'hostname' | 'name', value: unknown): boolean =>
    key !== 'hostname' || this.#ownHosts.has(value)
}

/** The logger that wrote these fields. */
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
    return parseJson(line) as Record<string, unknown>
  } catch {
    return undefined
  }
}

/** The object as winston would pass it to a transport: the level without colours, and a time without a zone as local time. */
function winstonInfo(fields: Readonly<Record<string, unknown>>): Record<string | symbol, unknown> {
  const { timestamp } = fields
  const level = stripVTControlCharacters(levelOf(fields)).trim()
  const isLocal = typeof timestamp === 'string' && localTime.test(timestamp)
  const time = isLocal ? new Date(timestamp.replace(' ', 'T').replace(',', '.')) : undefined
  const isTime = time !== undefined && !Number.isNaN(time.getTime())
  return { ...fields, ...(isTime ? { timestamp: time } : {}), [LEVEL]: level }
}
