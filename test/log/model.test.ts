import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Batch, maxBatch } from '../../src/delivery/batch.js'
import { type DropReason, dropReasons } from '../../src/delivery/ledger.js'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import type { Outgoing } from '../../src/delivery/sender.js'
import { type Backing, noBacking } from '../../src/log/backing.js'
import { KeyWriter } from '../../src/log/idempotency-key.js'
import { MemoryBounds } from '../../src/log/memory-bounds.js'
import { RecordLog } from '../../src/log/record-log.js'
import { fullBytes, gone, inFlight, none, ready, Segment, type State, suspect, waiting } from '../../src/log/segment.js'
import { trialOf } from '../../src/log/trial.js'
import type { Severity } from '../../src/records/level.js'
import { assertModel, type Step } from '../support/model.js'
import { MemorySpool } from './memory-spool.js'

// The specification of the logs, as a model: an array of objects.

const limits = { maxQueueRecords: 24, maxQueueBytes: 1_200_000 }
const maxBatchBytes = 262_144
const keys = new KeyWriter('model')
const lanes = [
  { kind: 'logs', bucket: 'b' },
  { kind: 'values', bucket: 'b' },
] as const

type End = 'delivered' | 'rejected' | DropReason

interface ModelRecord {
  readonly log: RecordLog
  readonly sequence: number
  readonly body: Buffer
  /** A key of its own. */
  readonly key: string
  state: State
  attempts: number
  blame: typeof none | typeof suspect
  /** In memory, or on disk alone. It is the segment that says so; what depends on it is compared. */
  isResident: boolean
  isOnDisk: boolean
  /** The file of its segment went away while it was in flight, on disk alone. */
  lostBy: DropReason | undefined
  end: End | undefined
}

interface Sent {
  readonly batch: Batch
  readonly records: readonly ModelRecord[]
  /** Indexes of those that have no outcome yet. */
  readonly open: Set<number>
}

const noOwner = { onSettle() {}, onDone() {} }

class World {
  readonly records: ModelRecord[] = []
  readonly bySequence = new Map<number, ModelRecord>()
  readonly sent: Sent[] = []
  readonly lost = new Map<string, number>()
  readonly gated = new Set<number>()
  readonly ledger = new LedgerBook(lanes)
  readonly spool: MemorySpool | undefined
  readonly backing: Backing
  readonly bounds: MemoryBounds
  readonly logs: readonly RecordLog[]
  readonly adopted: RecordLog
  sequence = 0
  adoptedSequence = -1_000_000
  requests = 0
  retries = 0
  accepted = 0

  constructor(hasSpool: boolean) {
    this.spool = hasSpool ? new MemorySpool() : undefined
    this.backing = this.spool ?? noBacking
    this.bounds = new MemoryBounds({
      limits,
      backing: this.backing,
      isGated: (lane) => this.gated.has(lane),
      lost: (lane, reason, count) => {
        const name = `${lane} ${reason}`
        this.lost.set(name, (this.lost.get(name) ?? 0) + count)
      },
    })
    const { ledger, bounds, backing } = this
    const open = (lane: number, severity: Severity) => new RecordLog({ lane, severity, ledger, bounds, backing })
    this.logs = [open(0, 0), open(0, 2), open(0, 4), open(1, 6)]
    this.adopted = open(0, 2)
  }

  get all(): RecordLog[] {
    return [...this.logs, this.adopted]
  }

  of(log: RecordLog, ...states: State[]): ModelRecord[] {
    return this.records.filter((record) => record.log === log && states.includes(record.state))
  }

  /** Where a record of the model is now. */
  refOf(record: ModelRecord): { segment: Segment; index: number } {
    for (const segment of record.log.segments()) {
      for (let index = 0; index < segment.count; index++) {
        if (segment.states[index] !== gone && segment.sequenceOf(index) === record.sequence) return { segment, index }
      }
    }
    throw new Error(`the log has no record ${record.sequence}`)
  }

  add(log: RecordLog, body: Buffer, key: string, sequence: number): ModelRecord {
    const record: ModelRecord = {
      log,
      sequence,
      body,
      key,
      state: ready,
      attempts: 0,
      blame: none,
      isResident: true,
      isOnDisk: false,
      lostBy: undefined,
      end: undefined,
    }
    this.records.push(record)
    this.bySequence.set(sequence, record)
    this.accepted++
    return record
  }

  append(number: number, { size, keyLength, gap }: { size: number; keyLength: number; gap: number }): void {
    const log = this.logs[number]!
    this.sequence += 1 + gap
    const { sequence } = this
    const body = bodyOf(sequence, size)
    const key = keyLength === 0 ? '' : `${sequence}k`.padEnd(keyLength, 'k').slice(0, keyLength)
    const newcomer = { severity: log.severity, bytes: size + keyLength }
    const fitted = this.bounds.fits(newcomer.bytes)
    const expected = this.spool === undefined ? this.makeRoom(newcomer) : undefined
    const fits = this.bounds.makeRoom(newcomer)
    if (expected !== undefined) expect(fits).toBe(expected)
    if (fitted) expect(fits).toBe(true)
    if (this.spool !== undefined) this.look()
    if (!fits) {
      this.ledger.move(log.lane, 'none', 'queue-full', 1, size)
      this.accepted++
      this.refused.set(log.lane, (this.refused.get(log.lane) ?? 0) + 1)
      return
    }
    this.add(log, body, key, sequence)
    log.append({ body: body.toString(), bytes: size, key }, sequence, 'none')
    if (this.spool !== undefined) this.look()
  }

  readonly refused = new Map<number, number>()

  /** What is shed for a newcomer, without a spool. */
  makeRoom({ severity, bytes }: { severity: Severity; bytes: number }): boolean {
    const held = this.records.filter(({ state }) => state !== gone)
    const isSuspect = ({ state, blame }: ModelRecord) => state === waiting && blame === suspect
    const candidates = held
      .filter(({ state }) => state !== inFlight)
      .filter((record) => isSuspect(record) || record.log.severity <= severity)
      .sort((a, b) => {
        if (isSuspect(a) !== isSuspect(b)) return Number(isSuspect(b)) - Number(isSuspect(a))
        if (isSuspect(a)) return a.sequence - b.sequence
        return a.log.severity - b.log.severity || a.sequence - b.sequence
      })
    const shed: ModelRecord[] = []
    const fits = () => {
      const left = held.filter((record) => !shed.includes(record))
      return left.length < limits.maxQueueRecords && bytesOf(left) + bytes <= limits.maxQueueBytes
    }
    while (!fits()) {
      const next = candidates.shift()
      if (next === undefined) return false
      shed.push(next)
    }
    for (const record of shed) this.finish(record, 'queue-full')
    return true
  }

  finish(record: ModelRecord, end: End): void {
    record.state = gone
    record.end = end
  }

  /**
   * What the segments say of memory and disk, after a step that moves records between them. What is in flight stays where it is. Records
   * that the logs gave up are gone here, too, where no disk took them.
   */
  look(): void {
    const seen = new Set<ModelRecord>()
    for (const log of this.all) {
      for (const segment of log.segments()) {
        for (let index = 0; index < segment.count; index++) {
          if (segment.states[index] === gone) continue
          const record = this.bySequence.get(segment.sequenceOf(index))!
          const isResident = segment.isResident(index)
          if (record.state === inFlight) expect(isResident).toBe(record.isResident)
          seen.add(record)
          record.isResident = isResident
          record.isOnDisk = index < segment.committed
          if (isResident || segment.file === undefined || this.damaged.has(record)) continue
          const line = this.spool!.files.get(segment)?.get(index)
          expect(line?.equals(Buffer.concat([Buffer.from(record.key), record.body]))).toBe(true)
        }
      }
    }
    for (const record of this.records) {
      if (record.state === gone || seen.has(record)) continue
      // Nothing that is in flight or safe on disk is given up.
      expect([record.state === inFlight, record.isOnDisk, this.spool!.takes && record.isOnDisk]).toEqual([
        false,
        false,
        false,
      ])
      this.finish(record, 'spool-full')
    }
  }

  take(number: number, { most, before }: { most: number; before: number }): void {
    const log = this.all[number]!
    const limit = before === 0 ? Number.POSITIVE_INFINITY : this.sequence - before
    const batch = this.batch(log)
    const candidates = this.of(log, ready).sort((a, b) => a.sequence - b.sequence)
    const first = candidates[0]
    const isBlocked = first !== undefined && !this.mayTake(log, this.refOf(first))
    log.take(batch, most, limit)
    const expected: ModelRecord[] = []
    let bytes = 0
    for (const record of candidates) {
      const fits = expected.length === 0 || (expected.length < maxBatch && bytes + record.body.length <= maxBatchBytes)
      if (expected.length >= most || record.sequence >= limit || !fits) break
      expected.push(record)
      bytes += record.body.length
    }
    const taken = Array.from({ length: batch.length }, (_, index) =>
      batch.segments[index]!.sequenceOf(batch.indexes[index]!),
    )
    const wanted = expected.map(({ sequence }) => sequence)
    // Records on disk come into memory only where there is room.
    const isWhole = expected.every(({ isResident }) => isResident)
    expect(taken).toEqual(isWhole ? wanted : wanted.slice(0, taken.length))
    if (wanted.length > 0) expect(taken.length > 0).toBe(!isBlocked)
    expect(batch.lowest).toBe(taken.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...taken))
    this.send(batch, taken)
  }

  takeOne(number: number, choice: number): void {
    const log = this.all[number]!
    const others = this.of(log, waiting, ready)
    if (others.length === 0) return
    const ref = [log.newest(), log.first(), ...log.suspects()][choice] ?? this.refOf(others[choice % others.length]!)
    if (!this.mayTake(log, ref)) return
    const batch = this.batch(log)
    const sequence = ref.segment.sequenceOf(ref.index)
    log.takeOne(batch, ref)
    this.send(batch, [sequence])
  }

  /** Other records may leave memory for it. */
  mayTake(log: RecordLog, ref: { segment: Segment; index: number }): boolean {
    const may = log.mayTake(ref)
    if (this.spool !== undefined) this.look()
    return may
  }

  batch(log: RecordLog): Batch {
    return new Batch({ ...lanes[log.lane]!, keys, owner: noOwner })
  }

  send(batch: Batch, taken: readonly number[]): void {
    if (this.spool !== undefined) this.look()
    if (taken.length === 0) return
    const records = taken.map((sequence) => this.bySequence.get(sequence)!)
    for (const record of records) {
      record.state = inFlight
      if (record.attempts > 0) this.retries++
      record.attempts++
      this.requests++
    }
    if (batch.load() === 'later') {
      for (const record of records) {
        const { segment, index } = this.refOf(record)
        segment.log.mark(segment, index, 1, ready)
        record.state = ready
      }
      return
    }
    // Damaged lines leave the batch.
    const left = records.filter((record) => {
      const isLeft = !this.damaged.has(record)
      if (!isLeft) this.finish(record, 'spool-full')
      return isLeft
    })
    expect(batch.length).toBe(left.length)
    if (left.length > 0) this.sent.push({ batch, records: left, open: new Set(left.keys()) })
  }

  readonly damaged = new Set<ModelRecord>()

  damage(choice: number): void {
    const parked = this.records.filter(({ state, isResident }) => !isResident && (state === ready || state === waiting))
    const record = parked[choice % Math.max(1, parked.length)]
    if (record === undefined) return
    const { segment, index } = this.refOf(record)
    this.spool!.files.get(segment)!.delete(index)
    this.damaged.add(record)
  }

  /** The records of a batch have their bytes, wherever they are. */
  checkBatch({ batch, records }: Sent, from: number, count: number): void {
    const bodies = records.slice(from, from + count).map(({ body }) => body)
    const expected = Buffer.concat(bodies)
    const memory = Buffer.alloc(expected.length + 3)
    expect(batch.copyRun(from, count, memory, 3)).toBe(memory.length)
    expect(memory.subarray(3).equals(expected)).toBe(true)
    for (let index = from; index < from + count; index++) {
      const { sequence, key, body } = records[index]!
      const idempotencyKey = key === '' ? keys.textOf(sequence) : key
      const written = Buffer.alloc(batch.mostKeyBytes)
      const end = batch.writeKey(index, written, 0)
      expect(written.toString('latin1', 0, end)).toBe(idempotencyKey)
      expect([batch.isKey(index, idempotencyKey), batch.isKey(index, `${idempotencyKey}x`)]).toEqual([true, false])
      const text: Outgoing = batch.textOf(index)
      expect([text.idempotencyKey, text.bytes, batch.bytesOf(index)]).toEqual([
        idempotencyKey,
        body.length,
        body.length,
      ])
      expect(text.body === body.toString()).toBe(true)
    }
  }

  /** Some records of a batch that are still in flight have their outcome. */
  settle(
    choice: number,
    { from, most, to }: { from: number; most: number; to: 'delivered' | 'rejected' | 'ready' | 'waits' | 'suspect' },
  ): void {
    const sent = this.sent[choice % Math.max(1, this.sent.length)]
    if (sent === undefined) return
    const { batch, records, open } = sent
    const first = [...open][from % open.size]!
    const { segment, index } = this.placeIn(sent, first)
    const continues = (count: number) => {
      if (!open.has(first + count)) return false
      const next = this.placeIn(sent, first + count)
      return next.segment === segment && next.index === index + count
    }
    let count = 1
    while (count < most && continues(count)) count++
    this.checkBatch(sent, first, count)
    for (let offset = 0; offset < count; offset++) {
      open.delete(first + offset)
      const record = records[first + offset]!
      if (to === 'delivered' || to === 'rejected') this.finish(record, to)
      else if (record.lostBy !== undefined) this.finish(record, record.lostBy)
      else {
        record.state = to === 'ready' ? ready : waiting
        if (to !== 'ready') trialOf(segment, index + offset)
        if (to === 'suspect') {
          record.blame = suspect
          trialOf(segment, index + offset).blame = suspect
        }
      }
    }
    const state = to === 'ready' ? ready : to === 'delivered' || to === 'rejected' ? gone : waiting
    segment.log.mark(segment, index, count, state, state === gone ? (to as End) : undefined)
    if (open.size === 0) {
      this.sent.splice(this.sent.indexOf(sent), 1)
      batch.clear()
    }
  }

  placeIn({ batch }: Sent, index: number): { segment: Segment; index: number } {
    return { segment: batch.segments[index]!, index: batch.indexes[index]! }
  }

  /** A record that waits is due, or becomes a suspect. */
  judge(choice: number, isDue: boolean): void {
    const waits = this.records.filter(({ state }) => state === waiting)
    const record = waits[choice % Math.max(1, waits.length)]
    if (record === undefined) return
    const { segment, index } = this.refOf(record)
    if (!isDue) {
      record.blame = suspect
      trialOf(segment, index).blame = suspect
    } else record.state = ready
    segment.log.mark(segment, index, 1, record.state)
  }

  segmentOf(number: number, choice: number): Segment | undefined {
    const segments = [...this.all[number]!.segments()]
    return segments[choice % Math.max(1, segments.length)]
  }

  evict(number: number, choice: number): void {
    const segment = this.segmentOf(number, choice)
    if (segment === undefined || this.spool === undefined) return
    const records = this.recordsOf(segment)
    const inMemory = records.filter(({ isResident }) => isResident)
    const isPinned = records.some(({ state }) => state === inFlight)
    const count = segment.log.evict(segment)
    this.look()
    const evicted = inMemory.filter(({ isResident }) => !isResident).length
    expect(count).toBe(evicted)
    if (isPinned) expect(count).toBe(0)
    else if (this.spool.takes) expect(count).toBe(inMemory.length)
  }

  recordsOf(segment: Segment): ModelRecord[] {
    const records: ModelRecord[] = []
    for (let index = 0; index < segment.count; index++) {
      if (segment.states[index] !== gone) records.push(this.bySequence.get(segment.sequenceOf(index))!)
    }
    return records
  }

  forgetFile(number: number, choice: number, reason: DropReason): void {
    const segment = this.segmentOf(number, choice)
    if (segment?.file === undefined || this.spool === undefined) return
    this.spool.files.delete(segment)
    const records = this.recordsOf(segment)
    segment.log.forgetFile(segment, reason)
    for (const record of records) {
      record.isOnDisk = false
      if (record.isResident) continue
      if (record.state === inFlight) record.lostBy = reason
      else this.finish(record, reason)
    }
  }

  commit(): void {
    if (this.spool === undefined) return
    this.spool.commit()
    this.look()
    if (!this.spool.takes) return
    for (const record of this.records) {
      if (record.state === gone || record.isOnDisk || record.lostBy !== undefined) continue
      const { segment } = this.refOf(record)
      expect([record.sequence, segment.file !== undefined && !segment.isFileFull]).toEqual([record.sequence, false])
    }
  }

  adopt(sizes: readonly number[]): void {
    if (this.spool === undefined || !this.spool.takes) return
    const segment = new Segment(this.adopted)
    segment.file = this.spool.open(segment)
    const lines = this.spool.files.get(segment)!
    for (const size of sizes) {
      const sequence = this.adoptedSequence++
      if (size % 3 === 0) {
        segment.add(size, sequence, 0, gone)
        continue
      }
      const key = `other-${sequence}`
      const record = this.add(this.adopted, bodyOf(sequence, size), key, sequence)
      record.isOnDisk = true
      record.isResident = false
      lines.set(segment.count, Buffer.concat([Buffer.from(key), record.body]))
      segment.add(size, sequence, key.length)
    }
    this.adopted.adopt(segment)
  }

  check(): void {
    for (const log of this.all) this.checkLog(log)
    for (const sent of this.sent) {
      const [open] = sent.open
      this.checkBatch(sent, open!, 1)
    }
    const held = this.records.filter((record) => isHeld(record))
    expect([this.bounds.records, this.bounds.bytes]).toEqual([held.length, bytesOf(held)])
    if (this.spool === undefined) {
      expect(held.length).toBeLessThanOrEqual(limits.maxQueueRecords)
      expect(this.bounds.bytes).toBeLessThanOrEqual(limits.maxQueueBytes)
    }
    this.checkLedger()
  }

  checkLedger(): void {
    const { ledger, onDisk } = this.ledger.copy()
    const sum = { accepted: 0, requests: 0, retries: 0 }
    for (const [number, lane] of ledger.lanes.entries()) {
      const records = this.records.filter(({ log }) => log.lane === number)
      const count = (is: (record: ModelRecord) => boolean) => records.filter(is).length
      const isQueued = ({ state }: ModelRecord) => state === ready || state === waiting
      const bytes = (is: (record: ModelRecord) => boolean) =>
        records.filter(is).reduce((total, { body }) => total + body.length, 0)
      const dropped = Object.fromEntries(dropReasons.map((reason) => [reason, count(({ end }) => end === reason)]))
      const lost = Object.fromEntries(dropReasons.map((reason) => [reason, this.lost.get(`${number} ${reason}`) ?? 0]))
      expect(lost).toEqual(dropped)
      dropped['queue-full']! += this.refused.get(number) ?? 0
      expect({
        queued: lane.queued,
        spooled: lane.spooled,
        inFlight: lane.inFlight,
        delivered: lane.delivered,
        rejected: lane.rejected,
        dropped: lane.dropped,
        heldBytes: lane.heldBytes,
        deliveredBytes: lane.deliveredBytes,
        onDisk: onDisk[number],
      }).toEqual({
        queued: count((record) => isQueued(record) && record.isResident),
        spooled: count((record) => isQueued(record) && !record.isResident),
        inFlight: count(({ state }) => state === inFlight),
        delivered: count(({ end }) => end === 'delivered'),
        rejected: count(({ end }) => end === 'rejected'),
        dropped,
        heldBytes: bytes(isHeld),
        deliveredBytes: bytes(({ end }) => end === 'delivered'),
        onDisk: count((record) => isHeld(record) && record.isOnDisk),
      })
      sum.accepted += lane.accepted
      sum.requests += lane.requests
      sum.retries += lane.retries
    }
    expect(sum).toEqual({ accepted: this.accepted, requests: this.requests, retries: this.retries })
  }

  checkLog(log: RecordLog): void {
    const live = this.of(log, ready, inFlight, waiting).sort((a, b) => a.sequence - b.sequence)
    const at = (state: State) => live.filter((record) => record.state === state)
    const suspects = at(waiting).filter(({ blame }) => blame === suspect)
    const infinity = Number.POSITIVE_INFINITY
    const sequenceOf = (ref: { segment: Segment; index: number } | undefined) => ref?.segment.sequenceOf(ref.index)
    expect({
      counts: [log.ready, log.waiting],
      oldest: log.oldest,
      first: sequenceOf(log.first()),
      newest: sequenceOf(log.newest()),
      suspects: [...log.suspects()].map(sequenceOf),
    }).toEqual({
      counts: [at(ready).length, at(waiting).length],
      oldest: at(ready)[0]?.sequence ?? infinity,
      first: at(ready)[0]?.sequence,
      newest: at(ready).at(-1)?.sequence,
      suspects: suspects.map(({ sequence }) => sequence),
    })
    const spare = live.filter((record) => record.state !== inFlight && record.isResident && !record.isOnDisk)
    expect(log.spare).toEqual({ records: spare.length, bytes: bytesOf(spare) })
    expect(sequenceOf(log.oldestSpare())).toBe(spare[0]?.sequence)
    const found: { sequence: number; state: number; attempts: number }[] = []
    let isFirstReady = true
    for (const segment of log.segments()) {
      this.checkSegment(log, segment, found)
      this.checkMemory(log, segment, isFirstReady && segment.tally[ready] > 0)
      if (segment.tally[ready] > 0) isFirstReady = false
    }
    expect(found).toEqual(live.map(({ sequence, state, attempts }) => ({ sequence, state, attempts })))
  }

  checkSegment(log: RecordLog, segment: Segment, found: { sequence: number; state: number; attempts: number }[]): void {
    const tally = [0, 0, 0, 0]
    let held = 0
    for (let index = 0; index < segment.count; index++) {
      const state = segment.states[index]!
      tally[state]!++
      if (state === ready) expect(index).toBeGreaterThanOrEqual(segment.cursor)
      if (state === gone) continue
      expect(index).toBeGreaterThanOrEqual(segment.head)
      const sequence = segment.sequenceOf(index)
      const record = this.bySequence.get(sequence)!
      expect([segment.bytesOf(index), segment.keyLengthOf(index)]).toEqual([record.body.length, record.key.length])
      expect([segment.isResident(index), index < segment.committed]).toEqual([record.isResident, record.isOnDisk])
      found.push({ sequence, state, attempts: segment.attempts[index]! })
      if (!segment.isResident(index)) continue
      held += segment.spanOf(index, 1)
      const start = segment.startOf(index)
      expect(segment.memory.subarray(start, start + record.body.length).equals(record.body)).toBe(true)
    }
    for (const [index, trial] of segment.trials ?? []) {
      expect([trial.segment === segment, trial.index, segment.states[index] !== gone]).toEqual([true, index, true])
    }
    expect([...segment.tally]).toEqual(tally)
    expect(segment.held).toBe(held)
    if (segment !== segmentThatTakes(log)) expect(segment.head).toBeLessThan(segment.count)
  }

  /** Memory is what is held and an eighth of it, but in segments that take records, go out next, or have records in flight. */
  checkMemory(log: RecordLog, segment: Segment, isFirstReady: boolean): void {
    const { length } = segment.memory
    if (segment === segmentThatTakes(log) || isFirstReady || segment.tally[inFlight] > 0) {
      // Only the newest and the first are of full size where nothing is in flight.
      expect(length).toBeLessThanOrEqual(Math.max(fullBytes, segment.at * (9 / 8)))
    } else expect(length).toBeLessThanOrEqual(segment.held * (9 / 8))
  }
}

/** The segment that takes new records: the last one. */
function segmentThatTakes(log: RecordLog): Segment | undefined {
  return [...log.segments()].at(-1)
}

function isHeld({ state, isResident }: ModelRecord): boolean {
  return state === inFlight || (state !== gone && isResident)
}

/** Bytes in memory, with the own keys. */
function bytesOf(records: readonly ModelRecord[]): number {
  return records.reduce((sum, { body, key }) => sum + body.length + key.length, 0)
}

function bodyOf(sequence: number, size: number): Buffer {
  return Buffer.alloc(size, `${sequence}:`)
}

const log = fc.nat(3)
const anyLog = fc.nat(4)
const size = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 1, max: 300 }) },
  { weight: 16, arbitrary: fc.integer({ min: 20_000, max: 140_000 }) },
  { weight: 3, arbitrary: fc.integer({ min: 250_000, max: 400_000 }) },
  { weight: 1, arbitrary: fc.constant(limits.maxQueueBytes + 1) },
)
const keyLength = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 255 }) },
)
const outcome = fc.oneof(
  { weight: 4, arbitrary: fc.constant('delivered' as const) },
  {
    weight: 6,
    arbitrary: fc.constantFrom('rejected' as const, 'ready' as const, 'waits' as const, 'suspect' as const),
  },
)

function step(weight: number, arbitrary: fc.Arbitrary<Step<World>>) {
  return { weight, arbitrary }
}

const append = fc
  .tuple(log, size, keyLength, fc.constantFrom(0, 0, 0, 0, 0, 0, 2 ** 32))
  .map(
    ([number, size, keyLength, gap]): Step<World> => [
      `append to ${number}: ${size} bytes, key ${keyLength}, gap ${gap}`,
      (world) => world.append(number, { size, keyLength, gap }),
    ],
  )

const inMemory: { weight: number; arbitrary: fc.Arbitrary<Step<World>> }[] = [
  step(40, append),
  step(
    20,
    fc
      .tuple(anyLog, fc.constantFrom(1, 2, 5, 300), fc.constantFrom(0, 0, 1, 3))
      .map(([number, most, before]) => [
        `take ${most} of ${number}, before ${before}`,
        (world) => world.take(number, { most, before }),
      ]),
  ),
  step(
    6,
    fc
      .tuple(anyLog, fc.nat(5))
      .map(([number, choice]) => [`take one of ${number}: ${choice}`, (world) => world.takeOne(number, choice)]),
  ),
  step(
    40,
    fc
      .tuple(fc.nat(5), fc.nat(5), fc.constantFrom(1, 2, 300), outcome)
      .map(([choice, from, most, to]) => [
        `settle ${most} of batch ${choice} from ${from}: ${to}`,
        (world) => world.settle(choice, { from, most, to }),
      ]),
  ),
  step(
    10,
    fc
      .tuple(fc.nat(20), fc.boolean())
      .map(([choice, isDue]) => [`${isDue ? 'due' : 'suspect'}: ${choice}`, (world) => world.judge(choice, isDue)]),
  ),
]

const onDisk: typeof inMemory = [
  step(
    10,
    fc
      .tuple(anyLog, fc.nat(5))
      .map(([number, choice]) => [`evict segment ${choice} of ${number}`, (world) => world.evict(number, choice)]),
  ),
  step(8, fc.constant<Step<World>>(['commit', (world) => world.commit()])),
  step(
    3,
    fc
      .tuple(anyLog, fc.nat(5), fc.constantFrom<DropReason>('too-old', 'spool-full'))
      .map(([number, choice, reason]) => [
        `the file of segment ${choice} of ${number} goes: ${reason}`,
        (world) => world.forgetFile(number, choice, reason),
      ]),
  ),
  step(
    3,
    fc.nat(3).map((records) => [
      `the disk breaks after ${records}`,
      (world) => {
        world.spool!.left = records
      },
    ]),
  ),
  step(
    4,
    fc.constant<Step<World>>([
      'the disk takes records',
      (world) => {
        world.spool!.left = Number.POSITIVE_INFINITY
        world.spool!.takes = true
      },
    ]),
  ),
  step(
    2,
    fc.boolean().map((isSlow) => [
      `the disk ${isSlow ? 'does not answer' : 'answers'}`,
      (world) => {
        world.spool!.isSlow = isSlow
      },
    ]),
  ),
  step(
    2,
    fc.nat(5).map((choice) => [`line ${choice} is damaged`, (world) => world.damage(choice)]),
  ),
  step(
    2,
    fc.nat(1).map((lane) => [`lane ${lane} is gated`, (world) => world.gated.add(lane)]),
  ),
  step(
    3,
    fc
      .array(fc.integer({ min: 1, max: 100_000 }), { maxLength: 5 })
      .map((sizes) => [`adopt ${sizes}`, (world) => world.adopt(sizes)]),
  ),
]

/** All that is left is delivered, and leaves nothing behind. */
function finish(world: World): void {
  if (world.spool !== undefined) {
    world.spool.isSlow = false
    world.spool.takes = true
    world.spool.left = Number.POSITIVE_INFINITY
  }
  while (world.sent.length > 0) world.settle(0, { from: 0, most: 300, to: 'delivered' })
  for (let number = 0; number < world.all.length; number++) {
    while (world.all[number]!.ready + world.all[number]!.waiting > 0) {
      while (world.all[number]!.waiting > 0) world.judge(0, true)
      world.take(number, { most: 300, before: 0 })
      while (world.sent.length > 0) world.settle(0, { from: 0, most: 300, to: 'delivered' })
      world.check()
    }
  }
  const { queued, inFlight, spooled, heldBytes } = world.ledger.read()
  expect([queued, inFlight, spooled, heldBytes]).toEqual([0, 0, 0, 0])
  expect([world.bounds.records, world.bounds.bytes]).toEqual([0, 0])
  for (const log of world.all)
    expect([...log.segments()].filter((segment) => segment !== segmentThatTakes(log))).toEqual([])
}

describe('the logs of an engine, against their model', () => {
  it.each([
    ['in memory', inMemory, false],
    ['with a spool', [...inMemory, ...onDisk], true],
  ] as const)(
    'keep every record in one place, in its order, with its bytes: %s',
    async (_, steps, hasSpool) => {
      await assertModel({
        start: () => new World(hasSpool),
        step: fc.oneof(...steps),
        runs: { some: 60, all: 4000 },
        end: async (world) => finish(world),
      })
    },
    600_000,
  )
})
