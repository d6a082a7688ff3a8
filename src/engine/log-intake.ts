import type { Acceptable } from '../delivery/plan.js'
import type { ResolvedOptions } from '../options/options.js'
import type { MappedLog } from '../records/encode.js'
import { errorSeverity } from '../records/level.js'
import type { Clock } from '../runtime/clock.js'
import { type CompleteLog, KeptLines } from '../volume/kept-lines.js'
import type { EngineDelivery } from './engine-delivery.js'
import type { Line } from './ports.js'
import type { RecordWriter } from './record-writer.js'

interface LogIntakePlan {
  readonly options: ResolvedOptions
  readonly clock: Clock
  readonly delivery: EngineDelivery
  /** Index of its lane. */
  readonly lane: number
  readonly writer: RecordWriter
  /** Reports a line that could not be read, and gives the record that takes its place. */
  readonly unreadable: (error: unknown) => MappedLog
}

/** Lines that are kept for an error have this share of `maxQueueBytes`, besides the queue. */
const keptShare = 0.25

/** Makes log records of lines. Those that no option leaves out go to the delivery. */
export class LogIntake {
  readonly #plan: LogIntakePlan
  /** Lines below the option `level`, in case an error comes. */
  readonly #kept: KeptLines | undefined
  #ended = false

  constructor(plan: LogIntakePlan) {
    this.#plan = plan
    const { options, clock, delivery, lane } = plan
    const { keepForError, maxQueueBytes } = options
    if (keepForError === undefined) return
    this.#kept = new KeptLines({
      ...keepForError,
      clock,
      maxBytes: maxQueueBytes * keptShare,
      unneeded: () => delivery.keptForError(lane, -1),
    })
  }

  /** Take a line. One that cannot be read becomes a record that says so. */
  line(text: string, line: Line): void {
    let mapped: MappedLog
    try {
      mapped = this.#plan.writer.line(text, line)
    } catch (error) {
      mapped = this.#plan.unreadable(error)
    }
    this.log(mapped)
  }

  /** @param idempotencyKey unlike that of any other record, if the record may be accepted again @default one that is made when it is sent */
  log(mapped: MappedLog, idempotencyKey?: string): void {
    const { delivery, lane, writer } = this.#plan
    const { severity, id, redacted = false } = mapped
    if (mapped.sampledOut) delivery.suppress(lane, 'sampled')
    else if (mapped.below) this.#keep(mapped)
    else {
      if (severity >= errorSeverity && id !== undefined) this.#release(id)
      this.#ship({ severity, redacted, body: writer.log(mapped) }, { idempotencyKey })
    }
  }

  /** Take a record that Sluice has written itself. No option leaves it out. */
  say({ severity, fields }: MappedLog): void {
    this.#ship({ severity, redacted: false, body: this.#plan.writer.log({ severity, fields }) }, { isOwn: true })
  }

  /** Give up the lines that are kept: no error can come any more. */
  end(): void {
    this.#ended = true
    this.#kept?.end()
  }

  /** Without the option `keepForError`, a line below the level is not accepted at all. */
  #keep(mapped: MappedLog): void {
    if (this.#kept === undefined) return
    const { delivery, lane, writer } = this.#plan
    const { severity, id, redacted = false } = mapped
    delivery.suppress(lane, 'unneeded')
    if (this.#ended || id === undefined) return
    delivery.keptForError(lane, 1)
    this.#kept.keep(id, { severity, redacted, body: writer.log(mapped) })
  }

  #release(id: string): void {
    for (const record of this.#kept?.take(id) ?? []) this.#ship(record, { kept: true })
  }

  #ship(
    { severity, body, redacted }: CompleteLog,
    how: Pick<Acceptable, 'isOwn' | 'kept' | 'idempotencyKey'> = {},
  ): void {
    const { delivery, lane } = this.#plan
    delivery.accept(lane, { body, severity, ...how })
    if (redacted) delivery.redacted(lane)
  }
}
