import type { LaneName } from '../../src/delivery/ledger.js'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import type { DeliveryThread, EngineClient } from '../../src/hand-off/delivery-thread.js'
import { type Frame, isRecord, isValue, readFrame } from '../../src/hand-off/frames.js'
import { ClosedFlag, type EnginePlan } from '../../src/hand-off/protocol.js'

interface Hosted {
  readonly client: EngineClient
  readonly lines: string[]
  readonly drains: (Frame & { type: 'drain' })[]
  plan: EnginePlan | undefined
  book: LedgerBook | undefined
}

/** A delivery thread that takes lines, delivers, answers and dies when the test says so. */
export class FakeThread implements DeliveryThread {
  readonly lanes: readonly LaneName[]
  /** Each record that was delivered, as its line. */
  readonly delivered: string[] = []
  /** Numbers of the pino styles that the present worker knows. */
  readonly styles = new Set<number>()
  /** Calls of `hurry`. */
  hurried = 0
  /** Called by `reachSync` first. */
  onReach = () => {}
  up = true
  impossible = false
  ended = 0
  /** Resolves when the thread of the last worker is gone. */
  termination: Promise<void> = Promise.resolve()
  readonly #engines = new Map<number, Hosted>()
  readonly #taken = new Map<number, string[]>()
  #last = 0

  constructor(lanes: readonly LaneName[]) {
    this.lanes = lanes
  }

  join(client: EngineClient): number {
    this.#engines.set(++this.#last, { client, lines: [], drains: [], plan: undefined, book: undefined })
    return this.#last
  }

  connect(engine: number): void {
    const hosted = this.#engines.get(engine)!
    if (this.impossible) hosted.client.cannotStart()
    else if (this.up) this.#open(hosted)
  }

  write(engine: number, lines: Buffer): void {
    const hosted = this.#engines.get(engine)
    if (hosted === undefined || !this.up) throw new Error('written to a thread that is not there')
    hosted.lines.push(...lines.toString().split('\n').slice(0, -1))
  }

  hurry(): void {
    this.hurried++
  }

  startsSync(): boolean {
    return this.up
  }

  handOverSync(): boolean {
    if (!this.up) return false
    this.take(Number.POSITIVE_INFINITY)
    this.deliver(Number.POSITIVE_INFINITY)
    this.answer()
    return true
  }

  reachSync(): boolean {
    this.onReach()
    if (!this.up && !this.impossible) this.restart()
    return this.handOverSync()
  }

  catchUp(): true {
    return true
  }

  async leave(engine: number): Promise<void> {
    this.#engines.delete(engine)
    if (this.#engines.size > 0) return
    this.ended++
    await this.termination
  }

  /** Lines that were written and not taken. */
  get waiting(): string[] {
    return [...this.#engines.values()].flatMap(({ lines }) => lines)
  }

  /** Take so many lines of each engine. */
  take(count: number): void {
    if (!this.up) return
    for (const [engine, hosted] of this.#engines) {
      for (const line of hosted.lines.splice(0, count)) this.#take(engine, hosted, line)
    }
  }

  /** Deliver so many records of each engine. */
  deliver(count: number): void {
    for (const [engine, hosted] of this.#engines) {
      for (const line of this.#takenBy(engine).splice(0, count)) {
        const lane = this.#laneOf(line)
        hosted.book!.move(lane, 'queued', 'inFlight', 1, 0)
        hosted.book!.move(lane, 'inFlight', 'delivered', 1, 1)
        this.delivered.push(line)
      }
    }
  }

  /** Answer the drains of engines that have delivered all that they took. */
  answer(): void {
    if (!this.up) return
    for (const [engine, { client, drains, plan }] of this.#engines) {
      if (this.#takenBy(engine).length > 0) continue
      for (const { mode, request } of drains.splice(0)) {
        if (mode === 'close') new ClosedFlag(plan!.closed).raise()
        client.received({ engine, type: 'drained', request })
      }
    }
  }

  /** The worker dies, perhaps at the first line that an engine has not taken. */
  die(at: 'line' | 'disk' | undefined): void {
    if (!this.up) return
    this.up = false
    this.styles.clear()
    const first = this.#engines.keys().next().value
    for (const hosted of this.#engines.values()) hosted.client.detached()
    for (const [engine, hosted] of this.#engines) {
      this.#taken.delete(engine)
      hosted.lines.length = 0
      hosted.drains.length = 0
      hosted.client.workerFailed({ reason: 'it has died', at: engine === first ? at : undefined })
    }
  }

  restart(): void {
    if (this.up || this.impossible) return
    this.up = true
    for (const hosted of this.#engines.values()) this.#open(hosted)
  }

  /** No worker can be started any more. */
  forbid(): void {
    if (this.up || this.impossible) return
    this.impossible = true
    for (const { client } of this.#engines.values()) client.cannotStart()
  }

  #open(hosted: Hosted): void {
    hosted.plan = hosted.client.plan({ diskIsStalled: false })
    hosted.book = new LedgerBook(this.lanes, hosted.plan.memory)
    hosted.client.attached()
  }

  #take(engine: number, hosted: Hosted, line: string): void {
    if (isRecord(line)) {
      hosted.book!.move(this.#laneOf(line), 'taken', 'queued', 1, 1)
      this.#takenBy(engine).push(line)
      return
    }
    const frame = readFrame(line)
    if (frame.type === 'drain') hosted.drains.push(frame)
    else if (frame.type === 'style') this.styles.add(frame.number)
  }

  #takenBy(engine: number): string[] {
    const taken = this.#taken.get(engine) ?? []
    this.#taken.set(engine, taken)
    return taken
  }

  #laneOf(line: string): number {
    return this.lanes.findIndex(({ kind }) => kind === (isValue(line) ? 'values' : 'logs'))
  }
}
