import { runtimeIdentity } from '../options/identity.js'
import type { ResolvedOptions } from '../options/options.js'
import { type MappedLog, RecordEncoder } from '../records/encode.js'
import { severityOfNumber } from '../records/level.js'
import { type LineMapper, lineMapper } from '../records/line.js'
import type { LineStyle } from '../records/line-style.js'
import { inUnit } from '../records/time.js'
import { controlling } from '../volume/line-control.js'
import type { Line } from './ports.js'

/** Writes the JSON of records from the lines of loggers and the numbers of `track`. */
export class RecordWriter {
  readonly #options: ResolvedOptions
  readonly #mapping: ReturnType<typeof controlling<ResolvedOptions>>
  readonly #encoder: RecordEncoder
  readonly #mappers = new WeakMap<LineStyle, LineMapper>()

  constructor(options: ResolvedOptions) {
    this.#options = options
    this.#mapping = controlling(options)
    this.#encoder = new RecordEncoder({
      appName: options.appName,
      machineName: options.machineName,
      ...(options.env === undefined ? {} : { env: options.env }),
      ...(options.appVersion === undefined ? {} : { appVersion: options.appVersion }),
      runtimeVersion: `v${runtimeIdentity().version}`,
      runtime: options.runtime,
    })
  }

  log({ fields }: MappedLog): string {
    return this.#encoder.log(fields)
  }

  value(eventId: number, milliseconds: number): string {
    return this.#encoder.value({ eventId, timeStamp: inUnit(milliseconds, this.#options.timestampUnit) })
  }

  /** @throws when the mapping of the line throws */
  line(text: string, { style, ...about }: Line): MappedLog {
    let map = this.#mappers.get(style)
    if (map === undefined) {
      map = lineMapper({ ...this.#mapping, ...style })
      this.#mappers.set(style, map)
    }
    return map(text, about)
  }

  warning(message: string): MappedLog {
    return {
      fields: { timeStamp: inUnit(Date.now(), this.#options.timestampUnit), level: 'warn', message },
      severity: severityOfNumber(40),
    }
  }

  /** Takes the place of a line that could not be mapped. */
  get unreadable(): MappedLog {
    return this.warning(unreadableText)
  }
}

export const unreadableText = 'sluice: a line could not be read'
