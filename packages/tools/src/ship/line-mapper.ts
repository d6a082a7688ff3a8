import { hostname } from 'node:os'
import type { ResolvedOptions } from '../../../../src/options/options.js'
import type { MappedLog } from '../../../../src/records/encode.js'
import { type FieldsMapper, fieldsMapper } from '../../../../src/records/line.js'
import type { LineMapping } from '../../../../src/records/line-style.js'
import { parseJson } from '../../../../src/records/long-numbers.js'
import { redacting } from '../../../../src/records/redactor.js'

export type LineFormat = 'pino' | 'winston' | 'text'

/** A time such as `2024-05-01 12:00:00.123`, as winston's `timestamp` format writes it with a `format` option: local time. */
const localTime = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})?$/i

/**
 * Maps lines to records. A program may write more than its logger does, so the format of each line is recognised: pino (a numeric `level`, or
 * `msg`), winston's json format (`level` is a string, with `message` or `timestamp`), or text, of level info with the time of its arrival.
 */
export class LineMapper {
  readonly #pino: FieldsMapper
  readonly #winston: FieldsMapper

  constructor(options: LineMapping & Pick<ResolvedOptions, 'machineName'> & Partial<Pick<ResolvedOptions, 'redact'>>) {
    const mapping = redacting(options)
    const ownHosts: ReadonlySet<unknown> = new Set([options.machineName, hostname()])
    // The record itself names this machine. The host name of another machine is kept in the message.
    this.#pino = fieldsMapper({ ...mapping, isOwn: (key, value) => key === 'pid' || ownHosts.has(value) })
    this.#winston = fieldsMapper({ ...mapping, logger: 'winston' })
  }

  /** Never throws: a line that cannot be mapped as a logger's is text. */
  map(line: string, arrivedAt: number): MappedLog {
    try {
      const fields = parsed(line)
      const format = formatOf(fields)
      if (format === 'pino') return this.#pino(fields!, { arrivedAt }, line)
      if (format === 'winston') return this.#winston(withTime(fields!), { arrivedAt })
    } catch {}
    return this.#pino({ msg: line }, { arrivedAt })
  }
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

/** A time without a zone is local time. */
function withTime(fields: Record<string, unknown>): Record<string, unknown> {
  const { timestamp } = fields
  if (typeof timestamp !== 'string' || !localTime.test(timestamp)) return fields
  const time = new Date(timestamp.replace(' ', 'T').replace(',', '.'))
  return Number.isNaN(time.getTime()) ? fields : { ...fields, timestamp: time }
}
