import type { MappedLog } from '../records/encode.js'
import type { Severity } from '../records/level.js'
import { idOf, traceOf } from '../records/line-ids.js'
import type { LineFilter, LineRank } from '../records/message.js'
import { type Redaction, type Redactor, redacting } from '../records/redactor.js'
import { Sampler } from './sampler.js'

interface ControlOptions {
  readonly sample?: Readonly<Record<string, number>> | undefined
  readonly keepForError?: object | undefined
}

/** Leaves lines out as they are mapped, and finds the id by which others are kept. */
class LineControl implements LineFilter {
  readonly #sampler: Sampler | undefined
  readonly #needsId: boolean
  readonly #redactor: Redactor | undefined

  constructor({ sample, keepForError }: ControlOptions, redactor: Redactor | undefined) {
    this.#sampler = sample === undefined ? undefined : new Sampler(sample)
    this.#needsId = keepForError !== undefined
    this.#redactor = redactor
  }

  /** False for a line that the option `sample` leaves out. May add the field `sampleRate`. */
  keeps({ level, below }: LineRank, fields: Record<string, unknown>): boolean {
    if (below === true || !this.#sampler?.samples(level)) return true
    return this.#sampler.keeps(level, fields, traceOf(fields))
  }

  /** Stands for a line that the option `sample` leaves out. */
  leftOut(level: string, severity: Severity): MappedLog {
    this.#redactor?.takeRedacted()
    return { fields: { timeStamp: 0, level, message: '' }, severity, sampledOut: true }
  }

  /** Undefined without the option `keepForError`, and for an id in which something was hidden: all such ids look the same. */
  idOf(fields: Readonly<Record<string, unknown>>): string | undefined {
    const id = this.#needsId ? idOf(fields) : undefined
    return id === undefined || this.#redactor?.hasMask(id) ? undefined : id
  }
}

/** The options with a redactor of their own, and with a control of lines where an option needs one. */
export function controlling<Options extends ControlOptions & { readonly redact?: Redaction | undefined }>(
  options: Options,
) {
  const mapping = redacting(options)
  const needsControl = options.sample !== undefined || options.keepForError !== undefined
  return { ...mapping, control: needsControl ? new LineControl(options, mapping.redactor) : undefined }
}
