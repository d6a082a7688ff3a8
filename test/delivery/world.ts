import { Batch } from '../../src/delivery/batch.js'
import { Concurrency } from '../../src/delivery/concurrency.js'
import type { Event } from '../../src/delivery/events.js'
import { type Flight, Lane } from '../../src/delivery/lane.js'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import { Machine } from '../../src/delivery/machine.js'
import { Reach } from '../../src/delivery/reach.js'
import { patienceMs } from '../../src/delivery/rules.js'
import type { Outcome } from '../../src/delivery/sender.js'
import { noBacking } from '../../src/log/backing.js'
import { KeyWriter } from '../../src/log/idempotency-key.js'
import { MemoryBounds } from '../../src/log/memory-bounds.js'
import { RecordLog } from '../../src/log/record-log.js'
import { gone, inFlight, type Segment, type Trial, waiting } from '../../src/log/segment.js'
import type { Severity } from '../../src/records/level.js'
import { addsUp } from '../support/delivery.js'
import { seeded } from '../support/seeded.js'

/** One send of a flight that has not ended. */
interface Sent {
  readonly flight: Flight
  /** What goes out: the batch of the flight, or what is sent again of it. */
  readonly batch: Batch
  /** Indexes in the flight of the records without an outcome. */
  readonly left: Set<number>
}

export interface WorldPlan {
  readonly maxConnections: number
  readonly isRepeatable: boolean
  readonly maxQueueRecords: number
  readonly maxDepth: number
  readonly lingerMs: number
}

export const record = { lane: 0, severity: 2, key: '' } as const
const delivered: Outcome = { type: 'delivered' }

/** A machine over logs in memory, and the rules that hold after each of its steps. */
export class World {
  now = 0
  readonly machine: Machine
  readonly lanes: readonly Lane[]
  readonly sends: Sent[] = []
  readonly drains = new Set<number>()
  /** The next flight cannot be read from disk. */
  isDiskSlow = false
  readonly #plan: WorldPlan
  readonly #book: LedgerBook
  readonly #bounds: MemoryBounds
  readonly #taken = new Set<number>()
  /** Lanes whose records wait for the next one, because their flights were given up. */
  readonly #parked = new Set<Lane>()
  /** Lanes that have got records, and do not know it yet. */
  readonly #changed = new Set<Lane>()
  #isTogether = false
  /** Lanes that have lost records. */
  readonly #shed = new Set<Lane>()
  #sequence = 0
  #lastDrain = 0
  #hasLastDrain = false
  #rejected = 0

  constructor(plan: WorldPlan) {
    this.#plan = plan
    const { maxConnections, maxDepth, isRepeatable, maxQueueRecords, lingerMs } = plan
    const names = [
      { kind: 'logs', bucket: 'b' },
      { kind: 'values', bucket: 'b' },
    ] as const
    const requestTimeoutMs = 10_000
    const sender = { carriage: () => ({ sender: 'pipelined', maxDepth, repeatable: isRepeatable }) as const }
    this.#book = new LedgerBook(names)
    const book = this.#book
    this.#bounds = new MemoryBounds({
      limits: { maxQueueRecords, maxQueueBytes: 100_000 },
      backing: noBacking,
      isGated: (lane) => this.lanes[lane]!.gate !== undefined,
      lost: (lane) => this.#shed.add(this.lanes[lane]!),
    })
    const bounds = this.#bounds
    this.lanes = names.map(
      (name, index) =>
        new Lane({
          name,
          index,
          book,
          sender,
          window: new Concurrency({
            maxConnections,
            maxDepth: () => maxDepth,
            patienceMs: patienceMs(requestTimeoutMs, { draining: false }),
          }),
          log: (severity) => new RecordLog({ lane: index, severity, ledger: book, bounds, backing: noBacking }),
        }),
    )
    const keys = new KeyWriter('test')
    const owner = { onSettle() {}, onDone() {} }
    this.machine = new Machine({
      sender,
      random: seeded(7),
      retry: { baseMs: 500, capMs: 30_000 },
      probe: { baseMs: 30_000, capMs: 300_000 },
      maxConnections,
      maxBatch: 8,
      lingerMs,
      isRoomy: () => bounds.isRoomy,
      requestTimeoutMs,
      lanes: this.lanes,
      book,
      backing: noBacking,
      reach: new Reach({ clock: { now: () => this.now } }),
      makeBatch: ({ name }) => new Batch({ ...name, keys, owner }),
      nextSequence: () => this.#sequence,
      mayTellLosses: () => true,
    })
  }

  get ledger() {
    return this.#book.read()
  }

  add({
    lane: index,
    severity,
    key,
  }: {
    readonly lane: number
    readonly severity: Severity
    readonly key: string
  }): void {
    const lane = this.lanes[index]!
    const body = `{"n":${this.#sequence}}`
    const bytes = body.length
    const sequence = this.#sequence++
    if (this.#bounds.makeRoom({ severity, bytes: bytes + key.length })) {
      lane.logs.of(severity).append({ body, bytes, key }, sequence, 'none')
    } else this.#book.move(index, 'none', 'queue-full', 1, 0)
    this.#changed.add(lane)
    if (!this.#isTogether) this.#came()
  }

  /** Records that come in one turn. */
  together(come: () => void): void {
    this.#isTogether = true
    come()
    this.#isTogether = false
    this.#came()
  }

  #came(): void {
    const lanes = new Set([...this.#changed, ...this.#shed])
    this.#changed.clear()
    this.#shed.clear()
    for (const lane of lanes) this.step({ type: 'came', lane })
  }

  /** Records that dead engines have left come to the first lane. */
  adopt(count: number): void {
    const [lane] = this.lanes
    const log = lane!.adopted.of(2)
    for (let each = 0; each < count; each++) {
      log.append({ body: '{}', bytes: 2 }, this.#sequence++, 'adopted')
    }
    this.step({ type: 'came', lane: lane! })
  }

  /** Some outcomes of one send, those of neighbours together. Does nothing where nothing is under way. */
  answer(pick: number, share: number, outcome: Outcome): void {
    const sent = this.sends[pick % Math.max(1, this.sends.length)]
    if (sent === undefined) return
    const all = [...sent.left]
    const answered = all.slice(0, Math.ceil(all.length * share))
    for (let from = 0; from < answered.length; ) {
      const index = answered[from]!
      let count = 0
      for (; answered[from + count] === index + count; count++) {
        sent.left.delete(index + count)
        this.#noteTaken(sent.flight, index + count, outcome)
      }
      this.step({ type: 'settled', flight: sent.flight, index, count, outcome })
      from += count
    }
  }

  /** The send ends. Its other records get this outcome, or none. */
  end(pick: number, outcome: Outcome | undefined): void {
    const sent = this.sends[pick % Math.max(1, this.sends.length)]
    if (sent === undefined) return
    if (outcome !== undefined) this.answer(pick, 1, outcome)
    this.sends.splice(this.sends.indexOf(sent), 1)
    this.step({ type: 'done', flight: sent.flight })
  }

  /** Sequence of its first record. */
  sequenceOf({ batch }: Flight): number {
    return batch.segments[0]!.sequenceOf(batch.indexes[0]!)
  }

  woken(pick: number): void {
    this.sends[pick % Math.max(1, this.sends.length)]?.flight.batch.woken()
  }

  drain(ms: number, how: { readonly last: boolean; readonly brief: boolean }): void {
    const id = ++this.#lastDrain
    this.drains.add(id)
    this.#hasLastDrain ||= how.last
    this.step({ type: 'drain', id, deadline: this.now + ms, ...how })
  }

  endDrain(): void {
    for (const id of this.drains) {
      this.step({ type: 'drainOver', id })
      expectThat(!this.drains.has(id), 'a drain ends at its deadline')
      return
    }
  }

  abandon(): void {
    for (const lane of this.lanes) this.#parked.add(lane)
    this.step({ type: 'abandon' })
  }

  /** Let so many milliseconds pass. */
  wait(ms: number): void {
    const end = this.now + ms
    for (;;) {
      const next = this.machine.nextTick
      if (next > end) break
      this.now = Math.max(this.now, next)
      this.step({ type: 'tick' })
      expectThat(this.machine.nextTick > this.now, 'a tick does what was due')
    }
    this.now = end
  }

  /** The service takes everything from here on. Returns when nothing is left to be done. */
  recover(): void {
    for (const lane of this.lanes) this.step({ type: 'came', lane })
    for (let turn = 0; turn < 5000; turn++) {
      if (this.sends.length > 0) this.end(0, delivered)
      else if (this.machine.nextTick < Number.POSITIVE_INFINITY) {
        this.wait(this.machine.nextTick - this.now)
      } else break
    }
    const { queued, inFlight } = this.ledger
    expectThat(queued + inFlight === 0, `all is delivered: ${queued} are queued, ${inFlight} in flight`)
    expectThat(this.drains.size === 0, 'drains end when all is delivered')
  }

  step(event: Event): void {
    if (event.type === 'came') this.#parked.delete(event.lane)
    if (event.type === 'drain') this.#parked.clear()
    const later: Flight[] = []
    for (const command of this.machine.step(event, this.now)) {
      if (command.type === 'drained') this.drains.delete(command.id)
      else if (command.type === 'tell') this.#rejected += Number(command.report.type === 'rejected')
      else {
        const { flight, again } = command
        const places = again?.places ?? flight.open.keys()
        if (this.isDiskSlow && again === undefined) later.push(flight)
        else this.sends.push({ flight, batch: again?.batch ?? flight.batch, left: new Set(places) })
      }
    }
    this.isDiskSlow = false
    for (const flight of later) this.step({ type: 'later', flight })
    this.check()
  }

  #noteTaken(flight: Flight, index: number, outcome: Outcome): void {
    if (outcome.type !== 'delivered' || flight.over || flight.open[index] === 0) return
    const sequence = flight.batch.segments[index]!.sequenceOf(flight.batch.indexes[index]!)
    expectThat(!this.#taken.has(sequence), `record ${sequence} is settled once`)
    this.#taken.add(sequence)
  }

  check(): void {
    const { ledger } = this
    expectThat(addsUp(ledger), 'the equation of the ledger holds')
    expectThat(ledger.delivered <= this.#taken.size, 'only what was taken is delivered')
    expectThat(ledger.rejected === this.#rejected, 'each rejection is told')
    const { records } = this.#bounds
    expectThat(records === ledger.queued + ledger.inFlight, 'the bounds count what the ledger counts')
    expectThat(records <= this.#plan.maxQueueRecords, 'memory is bounded')
    for (const lane of this.lanes) this.#checkLane(lane)
  }

  #checkLane(lane: Lane): void {
    const { maxConnections } = this.#plan
    const places = placesOf(lane)
    const counts = { queued: 0, inFlight: 0 }
    for (const log of [...lane.logs.all, ...lane.adopted.all]) {
      for (const segment of log.segments()) {
        for (let index = 0; index < segment.count; index++) {
          const state = segment.states[index]!
          if (state === gone) continue
          if (state === inFlight) counts.inFlight++
          else counts.queued++
          const expected = state === inFlight || state === waiting ? 1 : 0
          const found = places.get(placeOf(segment, index)) ?? 0
          const sequence = segment.sequenceOf(index)
          expectThat(found === expected, `record ${sequence} in state ${state} is in one place, not in ${found}`)
        }
      }
    }
    const row = this.ledger.lanes[lane.index]!
    expectThat(row.queued === counts.queued && row.inFlight === counts.inFlight, 'states and ledger agree')
    const others = [...lane.flights].filter(({ way }) => way !== 'probe').length
    expectThat(others <= maxConnections, `${others} flights are no more than ${maxConnections}`)
    expectThat(lane.flights.size <= maxConnections + 1, 'probes go beyond the bound by one connection at most')
    for (const flight of lane.flights) expectThat(!flight.over, 'a flight that is over is gone')
    const probes = [...lane.flights].filter(({ way }) => way === 'probe').length
    expectThat(probes <= 1 || this.#hasLastDrain, 'a lane has one probe at most before the last drain')
    const next = this.machine.nextTick
    const waits = lane.ready > 0 && lane.gate === undefined && !this.#parked.has(lane)
    expectThat(!waits || lane.flights.size > 0 || next < Number.POSITIVE_INFINITY, 'records that are ready go out')
    this.#checkGate(lane)
  }

  #checkGate({ gate }: Lane): void {
    if (gate === undefined || gate.isProbing || gate.probeAt < Number.POSITIVE_INFINITY) return
    expectThat(gate.isDue, 'a gate that is shut has a probe, or will have one')
    for (const lane of gate.lanes) {
      const has = lane.ready + [...lane.tried, ...lane.fresh, ...lane.known].filter(isHere).length
      // While flights are given up, nothing looks for records.
      expectThat(
        has === 0 || this.#parked.has(lane) || this.machine.nextTick < Number.POSITIVE_INFINITY,
        'a gate is due only for want of records',
      )
    }
  }
}

/** A machine whose lane sends several records at once, and rests. */
export function setUpWorld(plan: Partial<WorldPlan> = {}) {
  const world = new World({
    maxConnections: 8,
    isRepeatable: true,
    maxQueueRecords: 1000,
    maxDepth: 8,
    lingerMs: 0,
    ...plan,
  })
  const logs = (count: number, lane = 0) => {
    for (let each = 0; each < count; each++) world.add({ ...record, lane })
  }
  const answerAll = () => {
    while (world.sends.length > 0) {
      world.wait(1)
      world.end(0, delivered)
    }
  }
  const together = (come: () => void) => world.together(come)
  const burst = (count: number) => together(() => logs(count))
  logs(60)
  answerAll()
  return { world, logs, together, burst, answerAll }
}

/** How many places each record has that waits or is in flight. */
function placesOf(lane: Lane): Map<string, number> {
  const places = new Map<string, number>()
  const add = (place: string) => places.set(place, (places.get(place) ?? 0) + 1)
  const queues: readonly Iterable<Trial>[] = [new Set(lane.due), lane.fresh, lane.known, lane.tried]
  for (const queue of queues) for (const trial of queue) if (isHere(trial)) add(placeOf(trial.segment, trial.index))
  for (const { batch } of lane.flights) {
    for (let index = 0; index < batch.length; index++) add(placeOf(batch.segments[index]!, batch.indexes[index]!))
  }
  return places
}

function isHere({ segment, index }: Trial): boolean {
  return segment.states[index] === waiting
}

function placeOf({ log, base }: Segment, index: number): string {
  return `${log.lane} ${log.severity} ${base} ${index}`
}

function expectThat(holds: boolean, rule: string): void {
  if (!holds) throw new Error(rule)
}
