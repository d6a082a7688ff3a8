import type { Acceptable } from '../delivery/plan.js'
import type { Newcomer } from '../log/record-log.js'
import type { ResolvedOptions } from '../options/options.js'
import type { MappedLog } from '../records/encode.js'
import { errorSeverity } from '../records/level.js'
import type { Clock } from '../runtime/clock.js'
import { type CompleteLog, KeptLines } from '../volume/kept-lines.js'
import type { EngineDelivery } from './engine-delivery.js'
import { GatheredLines } from './gathered-lines.js'
import type { Line } from './ports.js'
import type { RecordWriter } from './record-writer.js'

interface LogIntakePlan {
  readonly options: ResolvedOptions
  readonly clock: Clock
  readonly delivery: EngineDelivery
  /** Index of its lane. */
  readonly lane: number
  readonly writer: RecordWriter
  /** Lines are read when their lane sends. */
  readonly gathers: boolean
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
  readonly #gathered: GatheredLines | undefined
  #ended = false

  constructor(plan: LogIntakePlan) {
    this.#plan = plan
    const { options, clock, delivery, lane, gathers } = plan
    const { keepForError, maxQueueBytes, sample } = options
    // Other lines are all accepted.
    if (gathers && keepForError === undefined && sample === undefined) {
      this.#gathered = new GatheredLines({
        clock,
        delivery,
        lane,
        read: (text, line) => this.#read(text, line, 'gathered'),
      })
    }
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
    // Without `keepForError` it is not accepted.
    if (this.#gathered !== undefined && line.below === true) return
    if (this.#gathered?.keep(text, line)) return
    this.#gathered?.readAll()
    this.#read(text, line)
  }

  /** Read the lines that wait to be read. */
  readAll(): void {
    this.#gathered?.readAll()
  }

  #read(text: string, line: Line, origin?: Newcomer): void {
    let mapped: MappedLog
    try {
      mapped = this.#plan.writer.line(text, line)
    } catch (error) {
      mapped = this.#plan.unreadable(error)
    }
    this.log(mapped, { origin })
  }

  log(mapped: MappedLog, how?: Pick<Acceptable, 'origin' | 'idempotencyKey'>): void {
    const { delivery, lane, writer } = this.#plan
    const { severity, id, redacted = false } = mapped
    if (mapped.sampledOut) delivery.suppress(lane, 'sampled')
    else if (mapped.below) this.#keep(mapped)
    else {
      if (severity >= errorSeverity && id !== undefined) this.#release(id)
      this.#ship({ severity, redacted, body: writer.log(mapped) }, how)
    }
  }

  /** Take a record that Sluice has written itself. No option leaves it out. */
  say({ severity, fields }: MappedLog): void {
    this.readAll()
    this.#ship({ severity, redacted: false, body: this.#plan.writer.log({ severity, fields }) }, { origin: 'none' })
  }

  /** Read what waits to be read, and give up the lines that are kept: no error can come any more. */
  end(): void {
    this.readAll()
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
    for (const record of this.#kept?.take(id) ?? []) this.#ship(record, { origin: 'unneeded' })
  }

  #ship({ severity, body, redacted }: CompleteLog, how?: Pick<Acceptable, 'origin' | 'idempotencyKey'>): void {
    const { delivery, lane } = this.#plan
    delivery.accept(lane, { body, severity, ...how })
    if (redacted) delivery.redacted(lane)
  }
}
