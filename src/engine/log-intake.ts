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
  /** True when the lines come from another thread, which has counted them. */
  readonly handedOver: boolean
  /** Reports a line that could not be read, and gives the record that takes its place. */
  readonly unreadable: (error: unknown) => MappedLog
}

/** Makes log records of lines, and gives those to the delivery that no option leaves out. */
export class LogIntake {
  readonly #plan: LogIntakePlan
  readonly #volume: Volume | undefined

  constructor(plan: LogIntakePlan) {
    this.#plan = plan
    const { options, clock, delivery, lane, handedOver } = plan
    if (options.repeat === undefined && options.keepForError === undefined) return
    this.#volume = new Volume({
      options,
      clock,
      ship: (record) => this.#ship(record, handedOver),
      suppress: (reason) => delivery.suppress(lane, { reason, handedOver }),
      kept: (change) => delivery.keptForError(lane, change),
      release: (record) => this.#ship(record, handedOver, true),
      say: (mapped) => this.log(mapped),
    })
  }

  /** Take a line that was mapped in this thread. */
  log(mapped: MappedLog): void {
    if (mapped.sampledOut) this.#suppressSampled(false)
    else this.#take(mapped, this.#plan.writer.log(mapped), false)
  }

  /** Take a record whose fields, as far as they differ from record to record, were written in another thread. */
  head(written: WrittenHead): void {
    const { writer, handedOver } = this.#plan
    this.#take(written, writer.completeLog(written.head), handedOver)
  }

  /** Count a line that another thread has left out by the option `sample`. */
  sampledOut(): void {
    this.#suppressSampled(this.#plan.handedOver)
  }

  /** See `Engine.plainLine`. */
  plain(lines: Buffer, from: number, end: number, writer: BodyWriter, passes?: () => boolean): boolean {
    const { delivery, lane, handedOver, options, writer: records } = this.#plan
    const { memory, at } = delivery.room(lane, writer.most(end - from))
    const to = writer.write(lines, from, end, memory, at)
    if (to === -1) return false
    if (passes?.() === false) return options.keepForError === undefined
    if (records.control?.leavesAlone(writer.level, writer.severity) === false) return false
    delivery.append(lane, to - at, writer.severity, handedOver)
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

  #take(about: Omit<WrittenHead, 'head'>, body: string, handedOver: boolean): void {
    const { severity, facts, below = false, redacted = false } = about
    if (this.#volume === undefined || facts === undefined) this.#ship({ severity, body, redacted }, handedOver)
    else this.#volume.take({ severity, body, redacted, facts, below })
  }

  #ship({ severity, body, redacted }: CompleteLog, handedOver: boolean, kept = false): void {
    const { delivery, lane } = this.#plan
    delivery.accept(lane, { body, severity, handedOver, kept })
    if (redacted) delivery.redacted(lane)
  }

  #suppressSampled(handedOver: boolean): void {
    const { delivery, lane } = this.#plan
    delivery.suppress(lane, { reason: 'sampled', handedOver })
  }
}
