import { runtimeIdentity } from '../options/identity.js'
import type { ResolvedOptions } from '../options/options.js'
import { logHead, type MappedLog, RecordEncoder } from '../records/encode.js'
import { severityOfNumber } from '../records/level.js'
import { PinoBytes } from '../records/pino-bytes.js'
import { type IsBase, mapPinoLine, type PinoMapper, type PinoStyle, pinoMapper } from '../records/pino-line.js'
import { inUnit } from '../records/time.js'
import { ValueBytes } from '../records/value-bytes.js'
import { WinstonBytes } from '../records/winston-bytes.js'
import type { WinstonMapping } from '../records/winston-info.js'
import type { WinstonLine } from '../records/winston-line.js'
import { winstonLineMapper } from '../records/winston-line.js'
import { controlling, type LineControl } from '../volume/line-control.js'
import type { PinoLine } from './ports.js'

/** Writes the JSON of records from the lines of loggers and the numbers of `track`. */
export class RecordWriter {
  readonly #options: ResolvedOptions
  readonly #mapping: WinstonMapping & { readonly control: LineControl | undefined }
  readonly #encoder: RecordEncoder
  readonly #mapWinston: ReturnType<typeof winstonLineMapper>
  readonly #pino = new WeakMap<PinoStyle, PinoMapper>()

  constructor(options: ResolvedOptions) {
    this.#options = options
    this.#mapping = controlling(options)
    this.#mapWinston = winstonLineMapper(this.#mapping)
    this.#encoder = new RecordEncoder({
      appName: options.appName,
      machineName: options.machineName,
      ...(options.env === undefined ? {} : { env: options.env }),
      ...(options.appVersion === undefined ? {} : { appVersion: options.appVersion }),
      runtimeVersion: `v${runtimeIdentity().version}`,
      runtime: options.runtime,
    })
  }

  /** Undefined where no option leaves lines out. */
  get control(): LineControl | undefined {
    return this.#mapping.control
  }

  log({ fields }: MappedLog): string {
    return this.completeLog(logHead(fields))
  }

  /** Complete a record whose head another thread has written. */
  completeLog(head: string): string {
    return this.#encoder.completeLog(head)
  }

  value(eventId: number, milliseconds: number): string {
    return this.#encoder.value({ eventId, timeStamp: inUnit(milliseconds, this.#options.timestampUnit) })
  }

  /** @throws when the mapping of the line throws */
  winstonLine(line: string, about: WinstonLine): MappedLog {
    return this.#mapWinston(line, about)
  }

  /** @throws when the mapping of the line throws */
  pinoLine(line: string, { style, arrivedAt, below = false }: PinoLine): MappedLog {
    const { messageKey } = style
    const isBelow = () => below
    return mapPinoLine(this.#pinoMapper(style), line, { messageKey, arrivedAt, isBase: isBaseOf(style), isBelow })
  }

  /** @param isBase @default by the base of the style; without that, every such field is */
  pinoBytes(style: PinoStyle, isBase = isBaseOf(style)): PinoBytes {
    return new PinoBytes({ ...this.#mapping, ...style }, { tail: this.#encoder.logTail, isBase })
  }

  winstonBytes(): WinstonBytes {
    return new WinstonBytes(this.#mapping, this.#encoder.logTail)
  }

  valueBytes(): ValueBytes {
    return new ValueBytes({ tail: this.#encoder.valueTail, timestampUnit: this.#options.timestampUnit })
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
      map = pinoMapper({ ...this.#mapping, ...style })
      this.#pino.set(style, map)
    }
    return map
  }
}

function isBaseOf({ base }: PinoStyle): IsBase | undefined {
  return base && ((key, value) => Object.is(base[key], value))
}

/** A log record of Sluice itself, of level warn. */
export function warning(message: string, { timestampUnit }: Pick<ResolvedOptions, 'timestampUnit'>): MappedLog {
  return {
    fields: { timeStamp: inUnit(Date.now(), timestampUnit), level: 'warn', message },
    severity: severityOfNumber(40),
  }
}
