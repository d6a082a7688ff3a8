import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Delivery } from '../../src/delivery/delivery.js'
import { droppedTotal, type Ledger } from '../../src/delivery/ledger.js'
import type { Batch, Carriage, Outcome, Sender } from '../../src/delivery/sender.js'
import type { Severity } from '../../src/records/level.js'
import { nobody } from '../support/observer.js'
import { answers } from '../support/scripted-sender.js'
import { settle, VirtualClock } from '../support/virtual-clock.js'

// The specification of delivery, as a model: what is accepted, where each record is, and what may happen to it.

const maxQueueRecords = 6
const maxQueueBytes = 120

type Place = 'queued' | 'in flight' | 'delivered' | 'rejected' | 'queue-full' | 'shutdown' | 'closed'

interface ModelRecord {
  readonly body: string
  readonly lane: number
  readonly severity: Severity
  place: Place
  attempts: number
}

interface Open {
  readonly batch: Batch
  readonly left: Set<number>
  /** Scopes of the answers that pause. */
  readonly pauses: Set<'key' | 'lane'>
  readonly finish: () => void
}

/** A service whose every answer the test gives by hand. */
class ManualSender implements Sender {
  readonly open: Open[] = []
  sent: (record: string) => void = () => {}

  carriage(): Carriage {
    return { sender: 'undici', maxDepth: 4 }
  }

  async send(batch: Batch): Promise<void> {
    for (const { body } of batch.records) this.sent(body)
    await new Promise<void>((finish) => {
      this.open.push({ batch, left: new Set(batch.records.keys()), pauses: new Set(), finish })
    })
  }

  closed: () => void = () => {}

  async close(): Promise<void> {
    this.closed()
  }
}

class World {
  readonly clock = new VirtualClock()
  readonly sender = new ManualSender()
  readonly records = new Map<string, ModelRecord>()
  readonly flushes: { readonly deadline: number; settled: boolean; tooEarly: string[]; excused: Set<number> }[] = []
  closing = false
  /** Until then the service wants to be left alone. */
  retryAfter = 0
  retried = false
  readonly delivery: Delivery

  constructor() {
    this.sender.sent = (body) => this.onSent(body)
    this.sender.closed = () => {
      for (const record of this.at('queued', 'in flight')) record.place = 'shutdown'
    }
    this.delivery = new Delivery({
      lanes: [
        { kind: 'logs', bucket: 'b' },
        { kind: 'values', bucket: 'b' },
      ],
      sender: this.sender,
      clock: this.clock,
      random: () => 0.5,
      observer: nobody,
      limits: { maxQueueRecords, maxQueueBytes },
      maxConnections: 3,
      maxBatch: 4,
      requestTimeoutMs: 10_000,
      retry: { baseMs: 500, capMs: 30_000 },
      probe: { baseMs: 30_000, capMs: 300_000 },
      keyPrefix: 'model',
    })
  }

  /** A record goes out: it was queued, and nothing of its severity that was accepted before it still waits for a first attempt. */
  onSent(body: string): void {
    const record = this.records.get(body)
    if (record?.place !== 'queued') throw new Error(`sent, though ${record?.place ?? 'never accepted'}: ${body}`)
    if (!this.retried) {
      for (const other of this.records.values()) {
        if (other === record) break
        if (other.lane === record.lane && other.severity === record.severity && other.place === 'queued') {
          throw new Error(`${body} overtook ${other.body}`)
        }
      }
    }
    record.place = 'in flight'
    record.attempts++
  }

  /** Accept, and shed by the rule: lowest severity first, oldest first within it, the newcomer only when nothing is below it. */
  accept(lane: number, severity: Severity, size: number): void {
    const body = `${this.records.size}:`.padEnd(size, 'x')
    const record: ModelRecord = { body, lane, severity, place: 'queued', attempts: 0 }
    if (this.closing) record.place = 'closed'
    else if (!this.makeRoom(record)) record.place = 'queue-full'
    this.records.set(body, record)
    this.delivery.accept(lane, { body, severity })
  }

  makeRoom(newcomer: ModelRecord): boolean {
    const held = this.at('queued', 'in flight')
    const fits = (records: ModelRecord[]) =>
      records.length < maxQueueRecords && bytesOf(records) + newcomer.body.length <= maxQueueBytes
    const candidates = this.at('queued')
      .filter(({ severity }) => severity <= newcomer.severity)
      .sort((a, b) => a.severity - b.severity)
    const shed: ModelRecord[] = []
    while (!fits(held.filter((record) => !shed.includes(record)))) {
      const next = candidates.shift()
      if (next === undefined) return false
      shed.push(next)
    }
    for (const record of shed) record.place = 'queue-full'
    return true
  }

  /** Answer one request of a batch, and leave the others open. */
  answerOne(choice: number, outcome: Outcome): void {
    const open = this.sender.open[choice % Math.max(1, this.sender.open.length)]
    const [index] = open?.left ?? []
    if (open === undefined || index === undefined) return
    open.left.delete(index)
    const record = this.records.get(open.batch.records[index]!.body)!
    if (record.place === 'in flight') {
      if (outcome.type === 'delivered' || outcome.type === 'rejected') record.place = outcome.type
      else this.retried = true
    }
    if (outcome.type === 'pause') open.pauses.add(outcome.scope)
    if (outcome.type === 'retry' && outcome.retryAfterMs !== undefined) {
      this.retryAfter = this.clock.now() + outcome.retryAfterMs
    }
    open.batch.settle(index, outcome)
  }

  async answer(choice: number, outcomes: Outcome[]): Promise<void> {
    const open = this.sender.open[choice % Math.max(1, this.sender.open.length)]
    if (open === undefined) return
    for (let step = 0; open.left.size > 0; step++) this.answerOne(choice, outcomes[step % outcomes.length]!)
    this.sender.open.splice(this.sender.open.indexOf(open), 1)
    // Until the whole batch is answered, what has to be sent again counts as in flight.
    for (const { body } of open.batch.records) {
      const record = this.records.get(body)!
      if (record.place === 'in flight') record.place = 'queued'
    }
    this.excuse(open)
    open.finish()
    await settle()
  }

  /** A lane that an answer pauses, or that is still paused after one, has made the one attempt of each drain under way. */
  excuse({ batch, pauses }: Open): void {
    const lane = batch.kind === 'logs' ? 0 : 1
    const stillPaused = this.delivery.stats().lanes[lane]!.state === 'paused'
    const lanes = pauses.has('key') ? [0, 1] : pauses.has('lane') || stillPaused ? [lane] : []
    for (const flush of this.flushes) {
      for (const each of lanes) flush.excused.add(each)
      this.excusePatience(flush)
    }
  }

  /** A drain that ends before the service wants to be asked again has nothing to wait for. */
  excusePatience({ deadline, excused }: { deadline: number; excused: Set<number> }): void {
    if (deadline < this.retryAfter) for (const lane of [0, 1]) excused.add(lane)
  }

  flush(timeoutMs: number): void {
    this.expectSettled(this.delivery.flush({ timeoutMs }), timeoutMs)
  }

  /** A drain ends by its deadline; before it only when what it waits for is settled, given up by a close, or was paused by an answer. */
  expectSettled(drain: Promise<Ledger>, timeoutMs: number): void {
    const flush = {
      deadline: this.clock.now() + timeoutMs,
      settled: false,
      tooEarly: [] as string[],
      excused: new Set<number>(),
    }
    const awaited = this.at('queued', 'in flight')
    this.excusePatience(flush)
    this.flushes.push(flush)
    void drain.then(({ lanes }) => {
      flush.settled = true
      if (this.clock.now() >= flush.deadline) return
      const unsettled = awaited.filter(({ place }) => place === 'queued' || place === 'in flight')
      flush.tooEarly = unsettled
        .filter(({ lane }) => lanes[lane]!.state !== 'closed' && !flush.excused.has(lane))
        .map(({ body }) => body)
    })
  }

  close(timeoutMs: number): void {
    this.closing = true
    this.expectSettled(this.delivery.close({ timeoutMs }), timeoutMs)
  }

  at(...places: Place[]): ModelRecord[] {
    return [...this.records.values()].filter(({ place }) => places.includes(place))
  }

  check(): void {
    const ledger = this.delivery.stats()
    for (const counts of [ledger, ...ledger.lanes]) {
      expect(counts.accepted).toBe(
        counts.delivered + counts.rejected + droppedTotal(counts) + counts.spooled + counts.queued + counts.inFlight,
      )
    }
    const held = this.at('queued', 'in flight')
    expect({
      accepted: ledger.accepted,
      delivered: ledger.delivered,
      rejected: ledger.rejected,
      'queue-full': ledger.dropped['queue-full'],
      shutdown: ledger.dropped.shutdown,
      closed: ledger.dropped.closed,
      queued: ledger.queued,
      inFlight: ledger.inFlight,
      heldBytes: ledger.heldBytes,
      requests: ledger.requests,
    }).toEqual({
      accepted: this.records.size,
      delivered: this.at('delivered').length,
      rejected: this.at('rejected').length,
      'queue-full': this.at('queue-full').length,
      shutdown: this.at('shutdown').length,
      closed: this.at('closed').length,
      queued: this.at('queued').length,
      inFlight: this.at('in flight').length,
      heldBytes: bytesOf(held),
      requests: [...this.records.values()].reduce((sum, { attempts }) => sum + attempts, 0),
    })
    expect(ledger.queued + ledger.inFlight).toBeLessThanOrEqual(maxQueueRecords)
    expect(ledger.heldBytes).toBeLessThanOrEqual(maxQueueBytes)
    for (const { deadline, settled, tooEarly } of this.flushes) {
      expect(tooEarly).toEqual([])
      if (this.clock.now() > deadline) expect(settled).toBe(true)
    }
  }
}

const bytesOf = (records: ModelRecord[]) => records.reduce((sum, { body }) => sum + body.length, 0)

const outcome = fc.constantFrom<Outcome>(
  answers.delivered,
  answers.delivered,
  answers.rejected,
  answers.refused,
  answers.reset,
  answers.busy,
  { ...answers.busy, retryAfterMs: 2000 },
  answers.wrongKey,
  answers.noBucket,
)

const nameOf = (each: Outcome) => ('status' in each ? each.status : 'reason' in each ? each.reason : each.type)

type Step = (world: World) => void | Promise<void>

const step: fc.Arbitrary<[name: string, run: Step]> = fc.oneof(
  {
    weight: 30,
    arbitrary: fc
      .tuple(fc.constantFrom<Severity>(0, 1, 2, 4, 6), fc.integer({ min: 4, max: 60 }))
      .map(([severity, size]): [string, Step] => [
        `accept severity ${severity}, ${size} bytes`,
        (world) => world.accept(severity === 6 ? 1 : 0, severity, size),
      ]),
  },
  { weight: 10, arbitrary: fc.constant<[string, Step]>(['settle', () => settle()]) },
  {
    weight: 30,
    arbitrary: fc
      .tuple(fc.nat(5), fc.array(outcome, { minLength: 1, maxLength: 4 }))
      .map(([choice, outcomes]): [string, Step] => [
        `answer ${choice}: ${outcomes.map(nameOf).join(', ')}`,
        (world) => world.answer(choice, outcomes),
      ]),
  },
  {
    weight: 10,
    arbitrary: fc
      .tuple(fc.nat(5), outcome)
      .map(([choice, one]): [string, Step] => [
        `answer one of ${choice}: ${nameOf(one)}`,
        (world) => world.answerOne(choice, one),
      ]),
  },
  {
    weight: 20,
    arbitrary: fc
      .constantFrom(0, 10, 300, 2000, 40_000, 400_000)
      .map((ms): [string, Step] => [`${ms} ms pass`, (world) => world.clock.advance(ms)]),
  },
  {
    weight: 5,
    arbitrary: fc
      .constantFrom(0, 1000, 60_000)
      .map((ms): [string, Step] => [`flush within ${ms} ms`, (world) => world.flush(ms)]),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(0, 5000)
      .map((ms): [string, Step] => [`close within ${ms} ms`, (world) => world.close(ms)]),
  },
)

const runs = Number(process.env.MODEL_RUNS ?? (process.env.FULL === undefined ? 300 : 20_000))

describe('delivery, against its model', () => {
  it('keeps every record in exactly one place, whatever happens, and delivers all that it keeps', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          step.map(([name, run]) => ({ run, toString: () => name })),
          { maxLength: 60, size: 'max' },
        ),
        async (steps) => {
          const world = new World()
          for (const { run } of steps) {
            await run(world)
            world.check()
          }
          // From here on the service is well: everything that is held arrives, and nothing else.
          const kept = world.at('queued', 'in flight').map(({ body }) => body)
          for (let round = 0; round < 60 && world.at('queued', 'in flight').length > 0; round++) {
            await world.clock.advance(10_000)
            while (world.sender.open.length > 0) await world.answer(0, [answers.delivered])
            world.check()
          }
          const lost = kept.filter((body) => !['delivered', 'shutdown'].includes(world.records.get(body)!.place))
          expect(lost).toEqual([])
          if (!world.closing) expect(world.at('shutdown')).toEqual([])
          const ledger: Ledger = world.delivery.stats()
          expect([ledger.queued, ledger.inFlight, ledger.heldBytes]).toEqual([0, 0, 0])
        },
      ),
      { numRuns: runs, ...(process.env.MODEL_SEED === undefined ? {} : { seed: Number(process.env.MODEL_SEED) }) },
    )
  }, 300_000)
})
