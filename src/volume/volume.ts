import type { ResolvedOptions } from '../options/options.js'
import type { LineFacts, MappedLog } from '../records/encode.js'
import { errorSeverity } from '../records/level.js'
import { cutToBytes } from '../records/message.js'
import { inUnit } from '../records/time.js'
import type { Clock } from '../runtime/clock.js'
import { type CompleteLog, KeptLines } from './kept-lines.js'
import { type EndedRepetition, RepeatGuard } from './repeat-guard.js'
import { repetitionText } from './repetition-text.js'

/** A log record before it is decided upon. */
interface ControlledLog extends CompleteLog {
  readonly facts: LineFacts
  readonly below: boolean
}

export interface VolumePlan {
  readonly options: Pick<
    ResolvedOptions,
    'repeat' | 'keepForError' | 'maxQueueBytes' | 'maxMessageBytes' | 'timestampUnit'
  >
  readonly clock: Clock
  readonly ship: (record: CompleteLog) => void
  readonly suppress: (reason: 'repeated' | 'unneeded') => void
  /** A record that was suppressed as unneeded is kept (1), or is not kept any more (-1). */
  readonly kept: (change: 1 | -1) => void
  /** Ship a record that was kept. */
  readonly release: (record: CompleteLog) => void
  /** Ship a record of Sluice itself. */
  readonly say: (mapped: MappedLog) => void
}

/** Lines that are kept for an error have this share of `maxQueueBytes`, besides the queue. */
const keptShare = 0.25

/** Carries out the options `repeat` and `keepForError` where the records are delivered. */
export class Volume {
  readonly #plan: VolumePlan
  readonly #repeats: RepeatGuard | undefined
  readonly #kept: KeptLines | undefined
  #ended = false

  constructor(plan: VolumePlan) {
    const { clock, options, kept } = plan
    const { repeat, keepForError, maxQueueBytes } = options
    this.#plan = plan
    const ended = (repetition: EndedRepetition) => this.#tell(repetition)
    if (repeat !== undefined) this.#repeats = new RepeatGuard({ ...repeat, clock, ended })
    if (keepForError !== undefined) {
      this.#kept = new KeptLines({
        ...keepForError,
        clock,
        maxBytes: maxQueueBytes * keptShare,
        unneeded: () => kept(-1),
      })
    }
  }

  take(record: ControlledLog): void {
    const { ship, suppress } = this.#plan
    const { severity, facts, below } = record
    if (below) this.#keep(record)
    else if (!this.#ended && this.#repeats?.passes(repeatable(record)) === false) suppress('repeated')
    else {
      if (severity >= errorSeverity && facts.id !== undefined) this.#release(facts.id)
      ship(record)
    }
  }

  /** Say now which lines have been repeated: the process may end next. */
  tell(): void {
    this.#repeats?.end()
  }

  /** Say it, and give up all that is kept: no error can come any more. */
  end(): void {
    this.#ended = true
    this.tell()
    this.#kept?.end()
  }

  #keep(record: ControlledLog): void {
    const { suppress, kept } = this.#plan
    const { severity, body, redacted, facts } = record
    suppress('unneeded')
    if (this.#ended || this.#kept === undefined || facts.id === undefined) return
    kept(1)
    this.#kept.keep(facts.id, { severity, body, redacted })
  }

  #release(id: string): void {
    for (const record of this.#kept?.take(id) ?? []) this.#plan.release(record)
  }

  #tell(repetition: EndedRepetition): void {
    const { options, say } = this.#plan
    const { level, severity } = repetition
    const message = cutToBytes(repetitionText(repetition), options.maxMessageBytes)
    say({ fields: { timeStamp: inUnit(Date.now(), options.timestampUnit), level, message }, severity })
  }
}

function repeatable({ severity, facts: { logger, level, text } }: ControlledLog) {
  return { logger, level, severity, text }
}
