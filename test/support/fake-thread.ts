import { type Ask, ControlBlock, type ControlPorts } from '../../src/control/control-block.js'
import type { LaneName } from '../../src/delivery/ledger.js'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import type { DeliveryThread, EngineClient } from '../../src/hand-off/delivery-thread.js'
import type { EnginePlan } from '../../src/hand-off/protocol.js'
import {
  endTextAt,
  type FrameHead,
  type FrameKind,
  type FrameMemory,
  padCode,
  type TextHead,
  textAt,
  valueBytes,
} from '../../src/pipe/frame.js'
import { PipeMemory } from '../../src/pipe/pipe-memory.js'
import { type FrameSink, PipeReader } from '../../src/pipe/pipe-reader.js'

/** Where a worker dies that takes a record: its ledger has not counted it yet, or has. */
export type Death = 'before the count' | 'behind the count'

/** An engine in the worker. Records have names: `v` and the number of a value's event, perhaps its key, or the text of a line. */
class HostedEngine implements FrameSink {
  /** Drains that are not answered. */
  asks: Ask[] = []
  /** Taken, and not delivered. */
  taking: { readonly name: string; readonly lane: number }[] = []
  readonly #lanes: readonly LaneName[]
  readonly #styles: Set<number>
  readonly #book: LedgerBook
  readonly #pipe: PipeMemory
  readonly #reader: PipeReader
  readonly #drains: ControlBlock
  readonly #stopHearing: () => void
  /** Records that it may take. */
  #left = 0

  constructor({ memory, pipe, drains, styles }: EnginePlan, lanes: readonly LaneName[], ports: ControlPorts) {
    this.#lanes = lanes
    this.#styles = new Set(styles.keys())
    this.#book = new LedgerBook(lanes, memory)
    this.#pipe = PipeMemory.open(pipe, ports.bell)!
    this.#reader = new PipeReader(this.#pipe)
    this.#drains = new ControlBlock(drains, ports)
    this.#stopHearing = this.#drains.whenAsked((ask) => this.asks.push(ask))
  }

  /** Names of the records in the ring. */
  get waiting(): string[] {
    const { frames } = this.#pipe
    const names: string[] = []
    for (let at = this.#pipe.get('read'); at !== this.#pipe.get('written'); at = this.#behind(at)) {
      if (isRecord(frames.headAt(at).kind)) names.push(nameAt(frames, at))
    }
    return names
  }

  take(count: number): void {
    this.#left = count
    // The application moves more into the ring as soon as it has room.
    while (this.#left > 0 && this.#pipe.get('read') !== this.#pipe.get('written')) {
      this.#reader.take(this, Number.POSITIVE_INFINITY)
    }
  }

  deliver(count: number): string[] {
    return this.taking.splice(0, count).map(({ name, lane }) => {
      this.#book.move(lane, 'queued', 'inFlight', 1, 0)
      this.#book.move(lane, 'inFlight', 'delivered', 1, 1)
      return name
    })
  }

  /** Answer the drains whose records are delivered. */
  answer(): void {
    if (this.taking.length > 0) return
    const due = this.asks.filter(({ after }) => after <= this.#book.taken)
    this.asks = this.asks.filter((ask) => !due.includes(ask))
    for (const { number, mode } of due) {
      if (mode === 'close') this.#stopHearing()
      this.#drains.answer(number)
    }
  }

  /** Leave the pipe as a reader does that dies while its sink has the next frame. Returns the record that is to blame. */
  stopAtNext(death: Death): string[] {
    const pipe = this.#pipe
    const { frames } = pipe
    let at = pipe.get('read')
    while (at !== pipe.get('written') && frames.codeAt(at) === padCode) at = pipe.move(at)
    if (at === pipe.get('written')) return []
    pipe.set('taken', this.#book.taken)
    pipe.set('busy', at + 1)
    const { kind } = frames.headAt(at)
    if (!isRecord(kind)) return []
    const name = nameAt(frames, at)
    if (death === 'before the count') return [name]
    this.#count(laneKind(kind), name)
    return []
  }

  stop(): void {
    this.#stopHearing()
  }

  taken(): number | undefined {
    return this.#left > 0 ? this.#book.taken : undefined
  }

  value(eventId: number): void {
    this.#count('values', `v${eventId}`)
  }

  keyed(eventId: number, _milliseconds: number, key: string): void {
    this.#count('values', `v${eventId} ${key}`)
  }

  text({ kind, style }: TextHead, memory: Buffer, from: number, end: number): void {
    if (kind === 'style') this.#styles.add(style)
    else if (kind === 'line' && !this.#styles.has(style)) throw new Error(`nobody has told the style ${style}`)
    else this.#count('logs', memory.toString('utf8', from, end))
  }

  unreadable({ kind }: FrameHead): void {
    if (kind === 'style') return
    this.#book.move(this.#laneOf('logs'), 'taken', 'unreadable', 1, 0)
    this.#left--
  }

  #count(kind: LaneName['kind'], name: string): void {
    const lane = this.#laneOf(kind)
    this.#book.move(lane, 'taken', 'queued', 1, 1)
    this.taking.push({ name, lane })
    this.#left--
  }

  #laneOf(kind: LaneName['kind']): number {
    return this.#lanes.findIndex((each) => each.kind === kind)
  }

  #behind(at: number): number {
    const behind = this.#pipe.frames.behind(at)
    return behind === this.#pipe.capacity ? 0 : behind
  }
}

/** A delivery thread that takes records, delivers, answers and dies when the test says so. */
export class FakeThread implements DeliveryThread {
  /** Each record that was delivered, by its name. */
  readonly delivered: string[] = []
  /** Each record that went with a worker. */
  readonly lost: string[] = []
  /** Each record at which a worker stopped before it counted it. Of a long line, its end. */
  readonly blamed: string[] = []
  /** Workers that have died. */
  deaths = 0
  /** Calls of `hurry`. */
  hurried = 0
  /** Calls of `watch`. */
  watched = 0
  /** Called by `reachSync` first. */
  onReach = () => {}
  up = true
  /** True while its worker does nothing at all. */
  stuck = false
  impossible = false
  ended = 0
  /** Resolves when the thread of the last worker is gone. */
  termination: Promise<void> = Promise.resolve()
  readonly #lanes: readonly LaneName[]
  readonly #ports: ControlPorts
  readonly #engines = new Map<number, { readonly client: EngineClient; hosted: HostedEngine | undefined }>()
  #last = 0

  constructor(lanes: readonly LaneName[], ports: ControlPorts) {
    this.#lanes = lanes
    this.#ports = ports
  }

  join(client: EngineClient): number {
    this.#engines.set(++this.#last, { client, hosted: undefined })
    return this.#last
  }

  connect(engine: number): void {
    if (this.impossible) this.#engines.get(engine)!.client.cannotStart()
    else if (this.up) this.#open(engine)
  }

  watch(): void {
    this.watched++
  }

  hurry(): void {
    this.hurried++
  }

  startsSync(): boolean {
    return this.up
  }

  answersSync(): boolean {
    return this.up && !this.stuck
  }

  reachSync(): boolean {
    this.onReach()
    this.restart()
    return this.answersSync()
  }

  catchUp(): void {}

  async leave(engine: number): Promise<void> {
    this.#engines.get(engine)?.hosted?.stop()
    this.#engines.delete(engine)
    if (this.#engines.size > 0) return
    this.ended++
    await this.termination
  }

  /** Records in the rings, by their names: the worker sees them. */
  get waiting(): string[] {
    return this.#hosted.flatMap(({ waiting }) => waiting)
  }

  /** Records that were taken and not delivered. */
  get taking(): string[] {
    return this.#hosted.flatMap(({ taking }) => taking.map(({ name }) => name))
  }

  /** Drains that are not answered. */
  get asks(): Ask[] {
    return this.#hosted.flatMap(({ asks }) => asks)
  }

  /** Take so many records of each engine. */
  take(count: number): void {
    for (const hosted of this.#hosted) hosted.take(count)
  }

  /** Deliver so many records of each engine. */
  deliver(count: number): void {
    for (const hosted of this.#hosted) this.delivered.push(...hosted.deliver(count))
  }

  /** Answer the drains of engines that have delivered all that they took. */
  answer(): void {
    for (const hosted of this.#hosted) hosted.answer()
  }

  /** All that the worker does by itself, while another thread waits. */
  work(): void {
    if (this.stuck) return
    this.take(Number.POSITIVE_INFINITY)
    this.deliver(Number.POSITIVE_INFINITY)
    this.answer()
  }

  /** The worker dies, perhaps while it takes a record of the first engine. */
  die(death?: Death): void {
    if (!this.up) return
    if (death !== undefined) this.blamed.push(...(this.#hosted[0]?.stopAtNext(death) ?? []))
    this.lost.push(...this.taking)
    this.deaths++
    this.up = false
    const engines = [...this.#engines.values()]
    for (const engine of engines) {
      engine.hosted?.stop()
      engine.hosted = undefined
    }
    for (const { client } of engines) client.detached()
    for (const { client } of engines) client.workerFailed({ reason: 'it has died' })
  }

  restart(): void {
    if (this.up || this.impossible) return
    this.up = true
    this.stuck = false
    for (const engine of this.#engines.keys()) this.#open(engine)
  }

  /** No worker can be started any more, or the first one has failed at its start. */
  forbid(): void {
    if (this.impossible) return
    this.up = false
    this.impossible = true
    for (const engine of this.#engines.values()) {
      engine.hosted?.stop()
      engine.hosted = undefined
      engine.client.cannotStart()
    }
  }

  get #hosted(): HostedEngine[] {
    return [...this.#engines.values()].flatMap(({ hosted }) => hosted ?? [])
  }

  #open(number: number): void {
    const engine = this.#engines.get(number)!
    engine.hosted = new HostedEngine(engine.client.plan({ diskIsStalled: false }), this.#lanes, this.#ports)
    engine.client.attached()
  }
}

function isRecord(kind: FrameKind): boolean {
  return kind !== 'pad' && kind !== 'style' && kind !== 'part'
}

function laneKind(kind: FrameKind): LaneName['kind'] {
  return kind === 'value' || kind === 'keyed' ? 'values' : 'logs'
}

/** Of a long line, its end. */
function nameAt(frames: FrameMemory, at: number): string {
  const { kind } = frames.headAt(at)
  const text = (from: number) => frames.bytes.toString('utf8', at + from, at + frames.sizeAt(at))
  if (kind === 'value') return `v${frames.eventAt(at)}`
  if (kind === 'keyed') return `v${frames.eventAt(at)} ${text(valueBytes)}`
  return text(frames.endsParts(at) ? endTextAt : textAt)
}
