import { describe, expect, it } from 'vitest'
import { Lane } from '../../src/delivery/lane.js'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import { pendingRecord } from '../../src/delivery/record-queue.js'
import { noWait } from '../../src/delivery/rules.js'
import type { Carriage } from '../../src/delivery/sender.js'
import { ScriptedSender } from '../support/scripted-sender.js'
import { VirtualClock } from '../support/virtual-clock.js'

/** A lane without a delivery around it. */
function setUpLane({ maxConnections = 1 } = {}) {
  const clock = new VirtualClock()
  const sender = new ScriptedSender(clock)
  const carriage: { -readonly [Key in keyof Carriage]: Carriage[Key] } = { sender: 'pipelined', maxDepth: 8 }
  sender.carriage = () => carriage
  const name = { kind: 'logs', bucket: 'b' } as const
  const book = new LedgerBook([name])
  const came: string[] = []
  const events = { due: () => came.push('due'), wake() {}, probe: () => false, settled() {} }
  const lane = new Lane({
    ...{ name, index: 0, events, book, drains: new Set(), sender, clock, maxConnections },
    ...{ random: () => 0.5, retry: { baseMs: 100, capMs: 100 }, maxBatch: 8, requestTimeoutMs: 10_000, keyOf: String },
  })
  let sequence = 0
  const record = (body: string) =>
    pendingRecord(
      { body, bytes: 1, severity: 2, idempotencyKey: body },
      { sequence: sequence++, generation: lane.outstanding.newest },
    )
  const ready = (...bodies: string[]) => {
    for (const body of bodies) lane.ready.putBack(record(body))
  }
  /** The record tested the service, and failed. */
  const tried = (body: string) => {
    const failed = { record: record(body), wait: noWait }
    lane.probes.failedAlone(failed, { blamed: [], asked: true, open: true, paused: false, now: 0 })
  }
  const suspect = (body: string) => {
    const each = record(body)
    lane.suspects.add(each)
    return each
  }
  const probe = ({ beside = false } = {}) => lane.takeProbe({ beside })?.body
  return { clock, carriage, lane, came, record, ready, tried, suspect, probe, report: () => book.read().lanes[0]! }
}

describe('the record that tests the service next', () => {
  it('is a suspect in turn with the others once all of these have failed', () => {
    const { tried, suspect, probe } = setUpLane()
    for (const body of ['one', 'two', 'three']) tried(body)
    for (const body of ['suspect', 'another suspect']) suspect(body)
    expect([probe(), probe(), probe(), probe(), probe(), probe()]).toEqual([
      ...['one', 'suspect', 'two', 'another suspect', 'three'],
      undefined,
    ])
  })

  it('is no suspect while a record is ready, and the turns begin again after it', () => {
    const { ready, tried, suspect, probe } = setUpLane()
    for (const body of ['one', 'two']) tried(body)
    for (const body of ['suspect', 'another suspect']) suspect(body)
    expect(probe()).toBe('one')
    ready('new', 'newer')
    expect([probe(), probe()]).toEqual(['newer', 'new'])
    expect([probe(), probe()]).toEqual(['two', 'suspect'])
  })

  it('is a suspect where the lane has nothing else', () => {
    const { suspect, probe } = setUpLane()
    suspect('suspect')
    expect([probe(), probe()]).toEqual(['suspect', undefined])
  })

  it('is the newest beside others in flight, and the oldest without them', () => {
    const { ready, probe } = setUpLane()
    ready('one', 'two', 'three')
    expect([probe({ beside: true }), probe()]).toEqual(['three', 'one'])
  })
})

describe('a lane', () => {
  it('counts what the service has judged apart from what it has taken', () => {
    const { lane } = setUpLane()
    lane.succeeded({ taken: false, count: 1 })
    expect([lane.delivered, lane.settled]).toEqual([0, 1])
    lane.succeeded({ taken: true, count: 2 })
    expect([lane.delivered, lane.settled]).toEqual([2, 3])
  })

  it('has one last chance, and spends it on a wait that is too long to honour', () => {
    const { lane } = setUpLane()
    const [honoured, excessive] = [false, true].map((each) => ({ notBefore: 1000, excessive: each }))
    expect(lane.hasLastChance).toBe(false)
    lane.attemptNow({ last: true })
    expect(lane.honour(honoured!)).toBe(1000)
    expect(lane.hasLastChance).toBe(true)
    expect(lane.honour(excessive!)).toBe(Number.NEGATIVE_INFINITY)
    expect(lane.hasLastChance).toBe(false)
    expect(lane.honour(excessive!)).toBe(1000)
  })

  it('sends nothing once it is closed, and says so in the ledger', () => {
    const { lane, report } = setUpLane()
    expect([lane.closed, lane.maySend, report().state]).toEqual([false, true, 'open'])
    lane.close()
    expect([lane.closed, lane.maySend, report().state]).toEqual([true, false, 'closed'])
  })

  it('reports another sender, and a depth that changes alone', () => {
    const { lane, carriage, report } = setUpLane()
    const sample = { startedAt: 0, endedAt: 1, successes: 8, firstAnswerMs: 10, betweenAnswersMs: 1 }
    for (let number = 0; number < 10; number++) lane.concurrency.add({ ...sample, backPressure: false, limited: true })
    lane.report()
    expect(report()).toMatchObject({ connections: 1, depth: 8, sender: 'pipelined' })
    carriage.maxDepth = 2
    lane.report()
    expect(report()).toMatchObject({ connections: 1, depth: 2, sender: 'pipelined' })
    carriage.sender = 'undici'
    lane.report()
    expect(report()).toMatchObject({ connections: 1, depth: 2, sender: 'undici' })
  })
})

describe('a record that is shed', () => {
  it('does not come due later, wherever it waited', async () => {
    const { clock, lane, came, record, ready, tried, suspect } = setUpLane()
    const known = suspect('due again')
    lane.suspects.takeAny()
    lane.suspects.failed(known, { type: 'retry', exchange: 'answered', reason: '500', backPressure: false })
    lane.suspects.wait(known)
    suspect('due for the first time')
    await clock.advance(60)
    suspect('waiting suspect')
    lane.delayed.add(record('delayed'), { ...noWait, waitMs: 50 })
    tried('tried')
    ready('ready')
    expect(lane.shelves.map((shelf) => shelf.lengthOf(2))).toEqual([1, 1, 1, 1, 1, 1])
    came.length = 0
    const all = lane.shelves.map((shelf) => shelf.takeOldestOf(2).body)
    expect(all.sort()).toEqual(['delayed', 'due again', 'due for the first time', 'ready', 'tried', 'waiting suspect'])
    expect(clock.timers).toBe(0)
    await clock.advance(1000)
    expect(came).toEqual([])
    expect([lane.suspects.take(), lane.takeNext(), lane.takeProbe({ beside: false })]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it('is a suspect before all others: those that wait, and those that are due for the first time or again', () => {
    const { lane, record } = setUpLane()
    const { waiting, fresh, known } = lane.suspects
    for (const [count, queue] of [waiting.queue, fresh, known].entries()) {
      for (let each = 0; each <= count; each++) queue.putBack(record(`${count} ${each}`))
    }
    const lengths = lane.shelves.filter((each) => each.suspects).map((shelf) => shelf.lengthOf(2))
    expect(lengths.sort()).toEqual([1, 2, 3])
  })
})
