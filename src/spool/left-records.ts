import { basename } from 'node:path'
import { counted } from '../errors/counted.js'
import type { RecordLog } from '../log/record-log.js'
import { Segment } from '../log/segment.js'
import type { Severity } from '../records/level.js'
import type { Clock, Timer } from '../runtime/clock.js'
import { Adoption, type AdoptionPlan, type LeftFile } from './adoption.js'
import { signIntervalMs } from './lock.js'
import type { SpoolLine } from './spool-line.js'
import type { SpooledSegments } from './spooled-segments.js'

export interface LeftRecordsPlan extends AdoptionPlan {
  readonly segments: SpooledSegments
  readonly clock: Clock
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
  readonly random: () => number
  /** Called with messages for people. */
  readonly report: (text: string) => void
  /** Called before each look for dead engines. */
  readonly beforeLook: () => void
}

/** The port through which records of dead engines come to the delivery. */
export interface SpoolOwner {
  /** The log for such records of a lane. */
  adoptedLog(lane: number, severity: Severity): RecordLog
  /** A lane has got such records. */
  adopted(lane: number): void
}

/** The first look comes after a random time up to this, so that processes that start together do not all look and send at once. */
const maxDelayMs = 2000

/** Looks for what dead engines have left, again and again, and puts it into logs of its own: on disk alone, the oldest first. */
export class LeftRecords {
  readonly #plan: LeftRecordsPlan
  readonly #adoption: Adoption
  readonly #unread: LeftFile[] = []
  /** By log: the highest sequence. */
  readonly #newest = new Map<RecordLog, number>()
  readonly #timers = new Map<'look' | 'read', Timer>()
  #owner: SpoolOwner | undefined

  constructor(plan: LeftRecordsPlan) {
    this.#plan = plan
    this.#adoption = new Adoption(plan)
  }

  start(owner: SpoolOwner): void {
    this.#owner = owner
    this.#schedule('look', this.#plan.random() * maxDelayMs, () => this.#look())
  }

  /** Read a file again at the next look. */
  again(path: string): void {
    this.#adoption.forget(path)
  }

  close(): void {
    for (const timer of this.#timers.values()) timer.cancel()
    this.#timers.clear()
    this.#adoption.release()
  }

  #look(): void {
    this.#plan.beforeLook()
    for (const folder of this.#adoption.touch()) this.#plan.segments.lose(folder)
    this.#unread.push(...this.#adoption.look())
    this.#readSoon()
    this.#schedule('look', signIntervalMs, () => this.#look())
  }

  /** One file at a time: the thread has other work, too. */
  #readSoon(): void {
    if (this.#unread.length > 0) this.#schedule('read', 0, () => this.#readNext())
  }

  #readNext(): void {
    const left = this.#unread.shift()!
    try {
      if (this.#adoption.has(left.path)) this.#read(left)
    } catch (error) {
      this.again(left.path)
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#plan.trouble('adopt', error)
    }
    this.#readSoon()
  }

  /** Throws what the file system does. */
  #read({ path, lane, severity }: LeftFile): void {
    const { clock, wallClock, report, lanes, segments } = this.#plan
    const { kind, bucket } = lanes[lane]!
    const belongs = (line: SpoolLine) => line.kind === kind && line.bucket === bucket && line.severity === severity
    const log = this.#owner!.adoptedLog(lane, severity)
    const segment = new Segment(log)
    const file = segments.fileFor(segment, { adopted: true })
    const { damaged, newest } = file.recover(path, { belongs, above: this.#newest.get(log) ?? 0 })
    if (damaged > 0) report(`lost ${counted(damaged, 'damaged line')} of ${basename(path)} in the spool`)
    file.lastAt = clock.now() - Math.max(0, wallClock() - newest)
    segments.add(file)
    if (file.isSettled) {
      segments.remove(file)
      return
    }
    segment.file = file
    this.#newest.set(log, segment.sequenceOf(segment.count - 1))
    log.adopt(segment)
    segments.giveUpOld()
    segments.makeRoom(0, { severity: 6 })
    this.#owner!.adopted(lane)
  }

  #schedule(name: 'look' | 'read', delayMs: number, task: () => void): void {
    this.#timers.get(name)?.cancel()
    const run = () => {
      this.#timers.delete(name)
      task()
    }
    this.#timers.set(name, this.#plan.clock.schedule(run, delayMs))
  }
}
