import type { LaneName } from '../../src/delivery/ledger.js'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import type { DeliveryThread, EngineClient } from '../../src/hand-off/delivery-thread.js'
import { type Frame, isRecord, isValue, readFrame } from '../../src/hand-off/frames.js'
import { ClosedFlag, type EnginePlan } from '../../src/hand-off/protocol.js'

interface Seat {
  readonly client: EngineClient
  /** Lines that were written and not taken. */
  readonly lines: string[]
  readonly drains: (Frame & { type: 'drain' })[]
  plan: EnginePlan | undefined
  book: LedgerBook | undefined
}

/** The delivery thread in a test's hands: it takes lines, delivers, answers, and dies, when the test says so. */
export class FakeThread implements DeliveryThread {
  readonly lanes: readonly LaneName[]
  /** Each record that was delivered, as its line. */
  readonly delivered: string[] = []
  up = true
  impossible = false
  ended = 0
  readonly #seats = new Map<number, Seat>()
  readonly #held = new Map<number, string[]>()
  #last = 0

  constructor(lanes: readonly LaneName[]) {
    this.lanes = lanes
  }

  join(client: EngineClient): number {
    this.#seats.set(++this.#last, { client, lines: [], drains: [], plan: undefined, book: undefined })
    return this.#last
  }

  connect(engine: number): void {
    const seat = this.#seats.get(engine)!
    if (this.impossible) seat.client.cannotStart()
    else if (this.up) this.#open(seat)
  }

  write(engine: number, lines: Buffer): void {
    const seat = this.#seats.get(engine)
    if (seat === undefined || !this.up) throw new Error('written to a thread that is not there')
    seat.lines.push(...lines.toString().split('\n').slice(0, -1))
  }

  hurry(): void {}

  handOverSync(): boolean {
    if (!this.up) return false
    this.take(Number.POSITIVE_INFINITY)
    this.deliver(Number.POSITIVE_INFINITY)
    this.answer()
    return true
  }

  reachSync(): boolean {
    if (!this.up) this.restart()
    return this.handOverSync()
  }

  async leave(engine: number): Promise<void> {
    this.#seats.delete(engine)
    if (this.#seats.size === 0) this.ended++
  }

  /** Take so many lines of each engine. */
  take(count: number): void {
    if (!this.up) return
    for (const [engine, seat] of this.#seats) {
      for (const line of seat.lines.splice(0, count)) this.#take(engine, seat, line)
    }
  }

  /** Deliver so many records of each engine. */
  deliver(count: number): void {
    for (const [engine, seat] of this.#seats) {
      for (const line of this.#heldBy(engine).splice(0, count)) {
        const lane = this.#laneOf(line)
        seat.book!.depart(lane, { retry: false })
        seat.book!.deliver(lane, 1)
        this.delivered.push(line)
      }
    }
  }

  /** Answer the drains of engines that hold nothing. */
  answer(): void {
    if (!this.up) return
    for (const [engine, { client, drains, plan }] of this.#seats) {
      if (this.#heldBy(engine).length > 0) continue
      for (const { mode, request } of drains.splice(0)) {
        if (mode === 'close') new ClosedFlag(plan!.closed).raise()
        client.received({ engine, type: 'drained', request })
      }
    }
  }

  /** The worker dies, perhaps of the first line that an engine has not taken. */
  die(at: 'line' | 'disk' | undefined): void {
    if (!this.up) return
    this.up = false
    const first = this.#seats.keys().next().value
    for (const seat of this.#seats.values()) seat.client.detached()
    for (const [engine, seat] of this.#seats) {
      this.#held.delete(engine)
      seat.lines.length = 0
      seat.drains.length = 0
      seat.client.workerFailed({ reason: 'it has died', at: engine === first ? at : undefined })
    }
  }

  restart(): void {
    if (this.up || this.impossible) return
    this.up = true
    for (const seat of this.#seats.values()) this.#open(seat)
  }

  /** No worker can be started any more. */
  forbid(): void {
    if (this.up || this.impossible) return
    this.impossible = true
    for (const { client } of this.#seats.values()) client.cannotStart()
  }

  #open(seat: Seat): void {
    seat.plan = seat.client.plan({ diskIsStalled: false })
    seat.book = new LedgerBook(this.lanes, seat.plan.memory)
    seat.client.attached()
  }

  #take(engine: number, seat: Seat, line: string): void {
    if (isRecord(line)) {
      seat.book!.accept(this.#laneOf(line), { bytes: 1, handedOver: true })
      this.#heldBy(engine).push(line)
      return
    }
    const frame = readFrame(line)
    if (frame.type === 'drain') seat.drains.push(frame)
  }

  #heldBy(engine: number): string[] {
    const held = this.#held.get(engine) ?? []
    this.#held.set(engine, held)
    return held
  }

  #laneOf(line: string): number {
    return this.lanes.findIndex(({ kind }) => kind === (isValue(line) ? 'values' : 'logs'))
  }
}
