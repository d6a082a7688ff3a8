import type { Acceptable } from '../delivery/plan.js'
import type { ResolvedOptions } from '../options/options.js'
import { logHead, type MappedLog, type WrittenHead } from '../records/encode.js'
import type { WinstonLine } from '../records/winston-line.js'
import type { Clock } from '../runtime/clock.js'
import type { CompleteLog } from '../volume/kept-lines.js'
import { Volume } from '../volume/volume.js'
import type { EngineDelivery } from './engine-delivery.js'
import type { BodyWriter, PinoLine } from './ports.js'
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

/** Makes log records of lines. The records that no option leaves out go to the delivery. */
export class LogIntake {
  readonly #plan: LogIntakePlan
  readonly #volume: Volume | undefined

  constructor(plan: LogIntakePlan) {
    this.#plan = plan
    const { options, clock, delivery, lane } = plan
    if (options.repeat === undefined && options.keepForError === undefined) return
    this.#volume = new Volume({
      options,
      clock,
      ship: (record) => this.#ship(record),
      suppress: (reason) => delivery.suppress(lane, reason),
      kept: (change) => delivery.keptForError(lane, change),
      release: (record) => this.#ship(record, { kept: true }),
      say: (mapped) => this.say(mapped),
    })
  }

  /** Take a line that was mapped in this thread. */
  log(mapped: MappedLog): void {
    if (mapped.sampledOut) this.sampledOut()
    else this.#take(mapped, { body: this.#plan.writer.log(mapped) })
  }

  /** Take a record that Sluice has written itself. No option leaves it out. */
  say(mapped: MappedLog): void {
    this.#ship({ ...mapped, redacted: false, body: this.#plan.writer.log(mapped) }, { isOwn: true })
  }

  /** Take a record whose fields, as far as they differ from record to record, were written in another thread. */
  head(written: WrittenHead, idempotencyKey?: string): void {
    this.#take(written, { body: this.#plan.writer.completeLog(written.head), idempotencyKey })
  }

  /** Count a line that the option `sample` has left out. */
  sampledOut(): void {
    const { delivery, lane } = this.#plan
    delivery.suppress(lane, 'sampled')
  }

  /** See `Engine.plainLine`. */
  plain(lines: Buffer, from: number, end: number, writer: BodyWriter, passes?: () => boolean): boolean {
    const { delivery, lane, options, writer: records } = this.#plan
    const { memory, at } = delivery.room(lane, writer.most(end - from))
    const to = writer.write(lines, from, end, memory, at)
    if (to === -1) return false
    if (passes?.() === false) return options.keepForError === undefined
    if (records.control?.leavesAlone(writer.level, writer.severity) === false) return false
    delivery.append(lane, to - at, writer.severity)
    return true
  }

  winstonLine(line: string, about: WinstonLine): void {
    this.#mapped(() => ({ ...this.#plan.writer.winstonLine(line, about), below: about.below ?? false }))
  }

  pinoLine(line: string, about: PinoLine): void {
    this.#mapped(() => ({ ...this.#plan.writer.pinoLine(line, about), below: about.below ?? false }))
  }

  /** Replace a line that cannot be read by a log record that says so: another thread has counted it. */
  unreadableLine(error: unknown): void {
    this.#mapped(() => {
      throw error
    })
  }

  /** Say now which lines have been repeated: the process may end next. */
  tell(): void {
    this.#volume?.tell()
  }

  /** The same, and give up the lines that are kept in case an error comes. */
  end(): void {
    this.#volume?.end()
  }

  #mapped(map: () => MappedLog): void {
    let mapped: MappedLog
    try {
      mapped = map()
    } catch (error) {
      // Another thread has counted the line: it must become a record.
      mapped = this.#plan.unreadable(error)
    }
    if (mapped.sampledOut) this.sampledOut()
    else this.head({ ...mapped, head: logHead(mapped.fields) })
  }

  #take(about: Omit<WrittenHead, 'head'>, { body, idempotencyKey }: Pick<Acceptable, 'body' | 'idempotencyKey'>): void {
    const { severity, facts, below = false, redacted = false } = about
    if (this.#volume === undefined || facts === undefined) this.#ship({ severity, body, redacted }, { idempotencyKey })
    else this.#volume.take({ severity, body, redacted, facts, below })
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
