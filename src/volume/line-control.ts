import type { LineFacts, MappedLog } from '../records/encode.js'
import { errorSeverity, type Severity } from '../records/level.js'
import { idOf, traceOf } from '../records/line-ids.js'
import type { LineFilter, LineParts, LineRank } from '../records/message.js'
import { type Redaction, type Redactor, redacting } from '../records/redactor.js'
import { maxTemplateChars } from './message-template.js'
import { Sampler } from './sampler.js'

interface ControlOptions {
  readonly sample?: Readonly<Record<string, number>> | undefined
  readonly repeat?: object | undefined
  readonly keepForError?: object | undefined
}

/** One more than is compared: it tells that the message is longer. */
const maxTextChars = maxTemplateChars + 1
const maxNameChars = 200

/** Leaves lines out as they are mapped, and gathers the facts by which others are left out later. */
export class LineControl implements LineFilter {
  readonly #sampler: Sampler | undefined
  readonly #needsFacts: boolean
  /** Lines of this severity and above are looked at. */
  readonly #lookedAtFrom: number
  readonly #redactor: Redactor | undefined

  constructor({ sample, repeat, keepForError }: ControlOptions, redactor: Redactor | undefined) {
    this.#sampler = sample === undefined ? undefined : new Sampler(sample)
    this.#needsFacts = repeat !== undefined || keepForError !== undefined
    this.#lookedAtFrom =
      repeat !== undefined ? 0 : keepForError !== undefined ? errorSeverity : Number.POSITIVE_INFINITY
    this.#redactor = redactor
  }

  /** True for a level, not below the option `level`, whose lines are neither left out nor looked at. */
  leavesAlone(level: string, severity: Severity): boolean {
    return severity < this.#lookedAtFrom && !this.#sampler?.samples(level)
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

  /** The facts of a line. Undefined where no option needs them. */
  factsOf(line: LineParts): LineFacts | undefined {
    if (!this.#needsFacts) return undefined
    const { logger, level, fields } = line
    // Before the cut: it may leave a part of a secret, which no pattern knows.
    const text = this.#redactor?.text(line.text) ?? line.text
    const id = this.#shown(idOf(fields))
    return {
      ...(typeof logger === 'string' ? { logger: logger.slice(0, maxNameChars) } : {}),
      level,
      text: text.slice(0, maxTextChars),
      ...(id === undefined ? {} : { id }),
    }
  }

  /** Undefined for an id in which something was hidden: all such ids look the same. */
  #shown(id: string | undefined): string | undefined {
    return id === undefined || this.#redactor?.hasMask(id) ? undefined : id
  }
}

/** The options with a redactor of their own, and with a control of lines where an option needs one. */
export function controlling<Options extends ControlOptions & { readonly redact?: Redaction | undefined }>(
  options: Options,
) {
  const mapping = redacting(options)
  const { sample, repeat, keepForError } = options
  const needsControl = sample !== undefined || repeat !== undefined || keepForError !== undefined
  return { ...mapping, control: needsControl ? new LineControl(options, mapping.redactor) : undefined }
}
