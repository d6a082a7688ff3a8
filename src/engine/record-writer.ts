import type { ResolvedOptions } from '../options/options.js'
import { logHead, type MappedLog, RecordEncoder } from '../records/encode.js'
import { severityOfNumber } from '../records/level.js'
import { type IsBase, mapPinoLine, type PinoMapper, type PinoStyle, pinoMapper } from '../records/pino-line.js'
import { inUnit } from '../records/time.js'
import type { WinstonLine } from '../records/winston-line.js'
import { winstonLineMapper } from '../records/winston-line.js'
import type { PinoLine } from './ports.js'

/** From what loggers and `track` hand over to the JSON of records, as the options want them. */
export class RecordWriter {
  readonly #options: ResolvedOptions
  readonly #encoder: RecordEncoder
  readonly #mapWinston: ReturnType<typeof winstonLineMapper>
  readonly #pino = new WeakMap<PinoStyle, PinoMapper>()

  constructor(options: ResolvedOptions) {
    this.#options = options
    this.#mapWinston = winstonLineMapper(options)
    this.#encoder = new RecordEncoder({
      appName: options.appName,
      machineName: options.machineName,
      ...(options.env === undefined ? {} : { env: options.env }),
      ...(options.appVersion === undefined ? {} : { appVersion: options.appVersion }),
      runtimeVersion: options.runtimeVersion,
      runtime: options.runtime,
    })
  }

  log({ fields }: MappedLog): string {
    return this.completeLog(logHead(fields))
  }

  /** The record of a head that another thread has made. */
  completeLog(head: string): string {
    return this.#encoder.completeLog(head)
  }

  value(eventId: number, milliseconds: number): string {
    return this.#encoder.value({ eventId, timeStamp: inUnit(milliseconds, this.#options.timestampUnit) })
  }

  /** @throws whatever the line makes the mapping throw */
  winstonLine(line: string, about: WinstonLine): MappedLog {
    return this.#mapWinston(line, about)
  }

  /** @throws whatever the line makes the mapping throw */
  pinoLine(line: string, { style, arrivedAt }: PinoLine): MappedLog {
    const { messageKey, base } = style
    const isBase: IsBase | undefined = base && ((key, value) => Object.is(base[key], value))
    return mapPinoLine(this.#pinoMapper(style), line, { messageKey, arrivedAt, isBase })
  }

  warning(message: string): MappedLog {
    return warning(message, this.#options)
  }

  /** Takes the place of a line that could not be mapped. */
  get unreadable(): MappedLog {
    return this.warning('sluice: a line could not be read')
  }

  #pinoMapper(style: PinoStyle): PinoMapper {
    let map = this.#pino.get(style)
    if (map === undefined) {
      map = pinoMapper({ ...this.#options, ...style })
      this.#pino.set(style, map)
    }
    return map
  }
}

/** A log record of Sluice itself, of level warn. */
export function warning(message: string, { timestampUnit }: Pick<ResolvedOptions, 'timestampUnit'>): MappedLog {
  return {
    fields: { timeStamp: inUnit(Date.now(), timestampUnit), level: 'warn', message },
    severity: severityOfNumber(40),
  }
}
