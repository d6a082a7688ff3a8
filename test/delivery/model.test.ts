import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Delivery } from '../../src/delivery/delivery.js'
import { type LaneState, type Ledger, settledTotal } from '../../src/delivery/ledger.js'
import type { Failure } from '../../src/delivery/rules.js'
import type { Carriage, Outcome, OutgoingBatch, Sender } from '../../src/delivery/sender.js'
import type { Severity } from '../../src/records/level.js'
import { recordsOf } from '../support/batch.js'
import { loopOver } from '../support/loop.js'
import { assertModel, type Step } from '../support/model.js'
import { silentObserver } from '../support/observer.js'
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
  /** The failure with which the service always answers this record; undefined when it takes the record. */
  readonly poison: Failure | undefined
  place: Place
  attempts: number
  /** True when it failed where others of its lane succeeded. */
  suspect: boolean
  /** True when it failed alone in an outage that has ended. */
  aloneBefore: boolean
  /** Failures as a suspect, each with another record of the lane delivered since the one before. */
  failures: number
  /** Failures in a row without a success of the lane, and the time of the last one. */
  inVain: number
  failedAt: number
  /** Counts of the lane at that time. */
  deliveredBefore: number
  settledBefore: number
}

/** A lane as the rules see it. */
interface ModelLane {
  delivered: number
  settled: number
  /** Records that failed since the gate shut and may be at fault, with the time of a failure that was alone; and the last of them. */
  readonly accused: Map<ModelRecord, number>
  last: ModelRecord | undefined
  /** True while another record has to show whether they are. */
  confirming: boolean
  state: LaneState
}

interface Open {
  readonly batch: OutgoingBatch
  readonly bodies: readonly string[]
  readonly left: Set<number>
  readonly outcomes: Outcome[]
  /** Count of the lane when it was sent. */
  settledBefore: number
  /** Scopes of the answers that pause. */
  readonly pauses: Set<'key' | 'lane'>
  readonly finish: () => void
}

/** A service to which the test gives every answer. */
class ManualSender implements Sender {
  readonly open: Open[] = []
  sent: (batch: OutgoingBatch) => number = () => 0

  carriage(): Carriage {
    return { sender: 'undici', maxDepth: 4 }
  }

  send(batch: OutgoingBatch): void {
    const settledBefore = this.sent(batch)
    // A batch says nothing of a record any more that is settled.
    const bodies = recordsOf(batch).map(({ body }) => body)
    const left = new Set(bodies.keys())
    this.open.push({ batch, bodies, left, outcomes: [], settledBefore, pauses: new Set(), finish: () => batch.done() })
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
  readonly lanes: ModelLane[] = [0, 1].map(() => ({
    delivered: 0,
    settled: 0,
    accused: new Map(),
    last: undefined,
    confirming: false,
    state: 'open',
  }))
  /** Refusals since the last success, of each lane and of the key: by status, the records that got it. */
  readonly refusals = new Map<string, Set<ModelRecord>>()
  /** True when a record got the same refusal again and there was no other record to send, or when the key was denied. */
  mayPause = false
  readonly flushes: {
    readonly startedAt: number
    readonly deadline: number
    settled: boolean
    tooEarly: string[]
    excused: Set<number>
  }[] = []
  closing = false
  /** On the clock: the service asks for no requests before. */
  retryAfter = 0
  retried = false
  readonly faults: unknown[] = []
  readonly delivery: Delivery

  constructor() {
    this.sender.sent = (batch) => {
      try {
        return this.onSent(batch)
      } catch (fault) {
        // What a sender throws, delivery catches.
        this.faults.push(fault)
        return 0
      }
    }
    this.sender.closed = () => {
      for (const record of this.at('queued', 'in flight')) record.place = 'shutdown'
    }
    this.delivery = new Delivery({
      lanes: [
        { kind: 'logs', bucket: 'b' },
        { kind: 'values', bucket: 'b' },
      ],
      sender: this.sender,
      loop: loopOver(this.clock),
      random: () => 0.5,
      observer: silentObserver,
      limits: { maxQueueRecords, maxQueueBytes },
      maxConnections: 3,
      maxBatch: 4,
      lingerMs: 0,
      requestTimeoutMs: 10_000,
      retry: { baseMs: 500, capMs: 30_000 },
      probe: { baseMs: 30_000, capMs: 300_000 },
      keyPrefix: 'model',
    })
  }

  /**
   * Records go out. They were queued. No older record of their severity still waits for its first attempt, unless they are probes. A
   * suspect goes alone, and is a probe only when all other records of the lane have failed: then they take turns.
   */
  onSent(batch: OutgoingBatch): number {
    const { kind, probe } = batch
    const records = recordsOf(batch)
    const lane = kind === 'logs' ? 0 : 1
    for (const { body } of records) {
      const record = this.records.get(body)
      if (record?.place !== 'queued') throw new Error(`sent, though ${record?.place ?? 'never accepted'}: ${body}`)
      if (record.suspect && records.length > 1) throw new Error(`${body} was sent with others`)
      const untried = this.at('queued').some((other) => other.lane === lane && other.attempts === 0)
      if (record.suspect && probe && untried) {
        throw new Error(`${body} was asked with, though there are others`)
      }
      if (!this.retried && !probe) {
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
    return this.lanes[lane]!.settled
  }

  /**
   * Accept a record, and shed by the rule: suspects first, the oldest first, whatever their severity; then the lowest severity first, the oldest
   * first within it; the newcomer only when no record is below it.
   */
  accept(
    lane: number,
    { severity, size, poison }: { severity: Severity; size: number; poison?: Failure | undefined },
  ): void {
    const body = `${this.records.size}:`.padEnd(size, 'x')
    const record: ModelRecord = {
      body,
      lane,
      severity,
      poison,
      place: 'queued',
      attempts: 0,
      suspect: false,
      aloneBefore: false,
      failures: 0,
      inVain: 0,
      failedAt: 0,
      deliveredBefore: -1,
      settledBefore: -1,
    }
    if (this.closing) record.place = 'closed'
    else if (!this.makeRoom(record)) record.place = 'queue-full'
    this.records.set(body, record)
    this.delivery.accept(lane, { body, severity })
  }

  /** Accept a good record in a lane that still has others, when no good record has to leave for it. */
  acceptBeside(lane: number): void {
    const held = this.at('queued', 'in flight')
    const fits = held.length < maxQueueRecords && bytesOf(held) + 8 <= maxQueueBytes
    const costsOthers = held.some(({ poison, suspect }) => poison === undefined && !suspect)
    if (held.some((record) => record.lane === lane) && (fits || !costsOthers))
      this.accept(lane, { severity: 6, size: 8 })
  }

  makeRoom(newcomer: ModelRecord): boolean {
    const held = this.at('queued', 'in flight')
    const fits = (records: ModelRecord[]) =>
      records.length < maxQueueRecords && bytesOf(records) + newcomer.body.length <= maxQueueBytes
    const candidates = this.at('queued')
      .filter(({ severity, suspect }) => suspect || severity <= newcomer.severity)
      .sort((a, b) => Number(b.suspect) - Number(a.suspect) || (a.suspect ? 0 : a.severity - b.severity))
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
  answerOne(choice: number, answer: Outcome): void {
    const open = this.sender.open[choice % Math.max(1, this.sender.open.length)]
    const [index] = open?.left ?? []
    if (open === undefined || index === undefined) return
    open.left.delete(index)
    const record = this.records.get(open.bodies[index]!)!
    const outcome = record.poison !== undefined && !isFailure(answer) ? record.poison : answer
    open.outcomes[index] = outcome
    if (record.place === 'in flight') {
      if (outcome.type === 'retry' || outcome.type === 'pause') this.retried = true
      else {
        record.place = outcome.type
        const lane = this.lanes[record.lane]!
        if (outcome.type === 'delivered') lane.delivered++
        lane.settled++
      }
    }
    if (outcome.type === 'pause') open.pauses.add(outcome.scope)
    if (outcome.type === 'retry' && outcome.retryAfterMs !== undefined && outcome.retryAfterMs > 0) {
      this.retryAfter = Math.max(this.retryAfter, this.clock.now() + Math.min(outcome.retryAfterMs, 300_000))
    }
    open.batch.settle(index, outcome)
  }

  async answer(choice: number, outcomes: Outcome[]): Promise<void> {
    const open = this.sender.open[choice % Math.max(1, this.sender.open.length)]
    if (open === undefined) return
    for (let step = 0; open.left.size > 0; step++) this.answerOne(choice, outcomes[step % outcomes.length]!)
    this.sender.open.splice(this.sender.open.indexOf(open), 1)
    // Until the whole batch is answered, records that have to be sent again count as in flight.
    const failed = open.bodies.flatMap((body, index) => {
      const record = this.records.get(body)!
      const outcome = open.outcomes[index]!
      if (record.place !== 'in flight' || !isFailure(outcome)) return []
      record.place = 'queued'
      return [{ record, outcome }]
    })
    this.judge(open, failed)
    this.excuse(open)
    open.finish()
    await settle()
    this.look()
  }

  /** Apply the rules: failed records become suspects, suspects are rejected, and refusals may pause a lane. */
  judge({ batch, settledBefore, outcomes }: Open, failed: readonly { record: ModelRecord; outcome: Failure }[]): void {
    const number = batch.kind === 'logs' ? 0 : 1
    const lane = this.lanes[number]!
    const held = this.delivery.stats().lanes[number]!.state !== 'open'
    const asked = batch.probe && held
    const others = lane.settled > settledBefore
    const denied = failed.some(({ outcome }) => outcome.status === 401)
    if (denied) this.mayPause = true
    const unanswered = failed.filter(({ outcome }) => outcome.type === 'retry' && outcome.exchange === 'ambiguous')
    const blamed = failed.filter(
      (each) =>
        each.outcome.status !== 401 &&
        !(each.outcome.type === 'retry' && each.outcome.exchange === 'unsent') &&
        (!unanswered.includes(each) || each === unanswered[0]),
    )
    if (failed.length === 0) {
      this.recover(lane)
      return
    }
    if (failed[0]!.record.suspect) {
      for (const { record } of blamed) this.failAgain(record, lane)
      if (batch.probe) lane.confirming = blamed.length > 0
      return
    }
    if (others && !asked && !denied) {
      // A batch that is refused as a whole, for its rate, shows nothing about a record at its first attempt.
      const isTogether = failed.length > 1 && outcomes.every(isFailure)
      for (const { record, outcome } of blamed) {
        const isBusy = outcome.type === 'retry' && outcome.exchange === 'answered' && outcome.backPressure
        record.suspect ||= !(isTogether && record.attempts === 1 && isBusy)
      }
      if (outcomes.some((outcome) => !isFailure(outcome))) this.recover(lane)
      return
    }
    const counts = asked || !held ? blamed.slice(0, 1) : []
    for (const { record, outcome } of counts) if (outcome.type === 'pause') this.refuse(number, { record, outcome })
    if (!held) lane.confirming = blamed.length > 0
    else if (asked) {
      // Another record confirms the first probe, unless the same record failed again. In a pause, where waits are long, another record
      // confirms the first probe of each wait.
      const same = lane.confirming && failed[0]!.record === lane.last
      lane.confirming = blamed.length > 0 && (same || (lane.state === 'paused' && !lane.confirming))
    }
    if (asked) {
      lane.accused.delete(failed[0]!.record)
      lane.last = failed[0]!.record
    }
    for (const { record } of blamed) {
      const alone = asked || (!held && blamed.length === 1)
      lane.accused.set(record, alone ? this.clock.now() : (lane.accused.get(record) ?? Number.NEGATIVE_INFINITY))
      lane.last = record
    }
    if (denied) lane.confirming = false
  }

  /**
   * The lane recovers: records that failed are suspects when another record was taken in their place, at once or shortly after, and when
   * they failed alone for the second time.
   */
  recover(lane: ModelLane): void {
    const number = this.lanes.indexOf(lane)
    for (const name of [...this.refusals.keys()]) {
      if (name.startsWith('key') || name.startsWith(`${number} `)) this.refusals.delete(name)
    }
    for (const [record, failedAt] of lane.accused) {
      const alone = failedAt > Number.NEGATIVE_INFINITY
      const atFault = lane.confirming || failedAt >= this.clock.now() - 60_000 || (alone && record.aloneBefore)
      if (alone) record.aloneBefore = true
      if (atFault && record.place === 'queued') record.suspect = true
    }
    this.acquit(lane)
  }

  acquit(lane: ModelLane): void {
    lane.accused.clear()
    lane.last = undefined
    lane.confirming = false
  }

  failAgain(record: ModelRecord, lane: ModelLane): void {
    if (lane.delivered > record.deliveredBefore) record.failures++
    record.inVain = lane.settled > record.settledBefore ? 1 : record.inVain + 1
    record.deliveredBefore = lane.delivered
    record.settledBefore = lane.settled
    record.failedAt = this.clock.now()
    if (record.failures === 8) record.place = 'rejected'
  }

  refuse(lane: number, { record, outcome }: { record: ModelRecord; outcome: Failure & { type: 'pause' } }): void {
    const name = `${outcome.scope === 'key' ? 'key' : lane} ${outcome.status}`
    const records = this.refusals.get(name) ?? new Set()
    if (records.has(record) || records.add(record).size > 1) this.mayPause = true
    this.refusals.set(name, records)
  }

  /** A lane that is paused after an answer has made its one attempt of each drain under way. */
  excuse({ batch, pauses }: Open): void {
    const lane = batch.kind === 'logs' ? 0 : 1
    const stillPaused = this.delivery.stats().lanes[lane]!.state === 'paused'
    const lanes = pauses.has('key') ? [0, 1] : pauses.has('lane') || stillPaused ? [lane] : []
    for (const flush of this.flushes) {
      for (const each of lanes) flush.excused.add(each)
      this.excusePatience(flush)
    }
  }

  /** A drain that ends before the service wants another request has nothing to wait for. */
  excusePatience({ deadline, excused }: { deadline: number; excused: Set<number> }): void {
    if (deadline < this.retryAfter) for (const lane of [0, 1]) excused.add(lane)
  }

  flush(timeoutMs: number): void {
    this.expectSettled(this.delivery.flush({ timeoutMs }), timeoutMs)
  }

  /** A drain ends at its deadline. It ends before only when its records are settled, given up by a close, or paused by an answer. */
  expectSettled(drain: Promise<Ledger>, timeoutMs: number): void {
    const flush = {
      startedAt: this.clock.now(),
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
      // A drain does not wait for a suspect that failed twice within it without a success of its lane.
      const givenUp = ({ suspect, inVain, failedAt, place }: ModelRecord) =>
        suspect && place === 'queued' && inVain >= 2 && failedAt >= flush.startedAt
      const unsettled = awaited.filter((each) => ['queued', 'in flight'].includes(each.place) && !givenUp(each))
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

  /** Compare the states of the lanes. */
  look(): void {
    const { lanes } = this.delivery.stats()
    for (const [index, { state }] of lanes.entries()) {
      if (state === 'paused' && this.lanes[index]!.state !== 'paused') expect(this.mayPause).toBe(true)
      // The success of another lane ends a pause of the key. It says nothing about the records of this lane.
      if (state === 'open') this.acquit(this.lanes[index]!)
      this.lanes[index]!.state = state
    }
    if (!lanes.some(({ state }) => state === 'paused')) this.mayPause = this.refusals.size > 0 && this.mayPause
  }

  check(): void {
    for (const fault of this.faults) throw fault
    const ledger = this.delivery.stats()
    for (const counts of [ledger, ...ledger.lanes]) {
      expect(counts.accepted).toBe(settledTotal(counts) + counts.spooled + counts.queued + counts.inFlight)
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
    this.look()
    for (const { deadline, settled, tooEarly } of this.flushes) {
      expect(tooEarly).toEqual([])
      if (this.clock.now() > deadline) expect(settled).toBe(true)
    }
  }
}

const bytesOf = (records: ModelRecord[]) => records.reduce((sum, { body }) => sum + body.length, 0)

const isFailure = (outcome: Outcome): outcome is Failure => outcome.type === 'retry' || outcome.type === 'pause'

const outcome = fc.constantFrom<Outcome>(
  answers.delivered,
  answers.delivered,
  answers.rejected,
  answers.refused,
  answers.reset,
  answers.busy,
  { ...answers.busy, retryAfterMs: 2000 },
  { ...answers.busy, retryAfterMs: 99_999_999_000 },
  { ...answers.busy, retryAfterMs: Number.NaN },
  answers.wrongKey,
  answers.forbidden,
  answers.noBucket,
)

const poison = fc.constantFrom<Failure>(
  answers.failed,
  answers.reset,
  answers.busy,
  answers.forbidden,
  answers.noBucket,
)

const nameOf = (each: Outcome) => ('status' in each ? each.status : 'reason' in each ? each.reason : each.type)

const step: fc.Arbitrary<Step<World>> = fc.oneof(
  {
    weight: 30,
    arbitrary: fc
      .tuple(
        fc.constantFrom<Severity>(0, 1, 2, 4, 6),
        fc.integer({ min: 4, max: 60 }),
        fc.option(poison, { freq: 4, nil: undefined }),
      )
      .map(
        ([severity, size, poison]): Step<World> => [
          `accept severity ${severity}, ${size} bytes${poison === undefined ? '' : `, always ${nameOf(poison)}`}`,
          (world) => world.accept(severity === 6 ? 1 : 0, { severity, size, poison }),
        ],
      ),
  },
  { weight: 10, arbitrary: fc.constant<Step<World>>(['settle', () => settle()]) },
  {
    weight: 30,
    arbitrary: fc
      .tuple(fc.nat(5), fc.array(outcome, { minLength: 1, maxLength: 4 }))
      .map(
        ([choice, outcomes]): Step<World> => [
          `answer ${choice}: ${outcomes.map(nameOf).join(', ')}`,
          (world) => world.answer(choice, outcomes),
        ],
      ),
  },
  {
    weight: 10,
    arbitrary: fc
      .tuple(fc.nat(5), outcome)
      .map(
        ([choice, one]): Step<World> => [
          `answer one of ${choice}: ${nameOf(one)}`,
          (world) => world.answerOne(choice, one),
        ],
      ),
  },
  {
    weight: 20,
    arbitrary: fc
      .constantFrom(0, 10, 300, 2000, 40_000, 400_000)
      .map((ms): Step<World> => [`${ms} ms pass`, (world) => world.clock.advance(ms)]),
  },
  {
    weight: 5,
    arbitrary: fc
      .constantFrom(0, 1000, 60_000)
      .map((ms): Step<World> => [`flush within ${ms} ms`, (world) => world.flush(ms)]),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(0, 5000).map((ms): Step<World> => [`close within ${ms} ms`, (world) => world.close(ms)]),
  },
)

describe('delivery, against its model', () => {
  it('keeps every record in exactly one place, whatever happens, and delivers all records that it keeps', async () => {
    await assertModel({
      start: () => new World(),
      step,
      runs: { some: 30, all: 4000 },
      async end(world) {
        // From here on the service takes all records except poison. All that is held arrives. Poison is rejected, with others beside it.
        const kept = world.at('queued', 'in flight')
        for (let round = 0; round < 600 && world.at('queued', 'in flight').length > 0; round++) {
          for (const lane of [0, 1]) world.acceptBeside(lane)
          await world.clock.advance(10_000)
          while (world.sender.open.length > 0) await world.answer(0, [answers.delivered])
          world.check()
        }
        const end = (record: ModelRecord) => (record.poison === undefined ? 'delivered' : 'rejected')
        const astray = kept.filter((record) => {
          const shed = (record.poison !== undefined || record.suspect) && record.place === 'queue-full'
          return ![end(record), 'shutdown'].includes(record.place) && !shed
        })
        expect(astray.map(({ body, place }) => `${body} ${place}`)).toEqual([])
        if (!world.closing) expect(world.at('shutdown')).toEqual([])
        const ledger: Ledger = world.delivery.stats()
        expect([ledger.queued, ledger.inFlight, ledger.heldBytes]).toEqual([0, 0, 0])
      },
    })
  }, 600_000)
})
