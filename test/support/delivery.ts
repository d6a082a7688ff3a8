import { Delivery } from '../../src/delivery/delivery.js'
import { type Ledger, settledTotal } from '../../src/delivery/ledger.js'
import type { DeliveryPlan } from '../../src/delivery/plan.js'
import type { Severity } from '../../src/records/level.js'
import { loopOver } from './loop.js'
import { ScriptedSender } from './scripted-sender.js'
import { VirtualClock } from './virtual-clock.js'

/** A delivery with a lane of each kind, in virtual time, over a scripted sender. */
export function setUp(changes: Partial<DeliveryPlan> = {}, clock = new VirtualClock()) {
  const sender = new ScriptedSender(clock)
  const told: string[] = []
  const plan: DeliveryPlan = {
    lanes: [
      { kind: 'logs', bucket: 'b' },
      { kind: 'values', bucket: 'b' },
    ],
    sender,
    loop: loopOver(clock),
    random: () => 0.5,
    observer: {
      dropped: (lane, { reason, count }) => told.push(`${lane.kind} dropped ${count} ${reason}`),
      rejected: (lane) => told.push(`${lane.kind} rejected`),
      paused: (lane, { status }) => told.push(`${lane.kind} paused ${status}`),
      outage: (lane, { reason }) => told.push(`${lane.kind} outage ${reason}`),
      resumed: (lane) => told.push(`${lane.kind} resumed`),
      recovered: (lane, { byReason }) => told.push(`${lane.kind} lost ${[...byReason].join()}`),
    },
    limits: { maxQueueRecords: 1000, maxQueueBytes: 1_000_000 },
    maxConnections: 8,
    maxBatch: 8,
    lingerMs: 0,
    requestTimeoutMs: 10_000,
    retry: { baseMs: 500, capMs: 30_000 },
    probe: { baseMs: 30_000, capMs: 300_000 },
    keyPrefix: 'test',
    ...changes,
  }
  const delivery = new Delivery(plan)
  const log = (body: string, severity: Severity = 2) => delivery.accept(0, { body, severity })
  const value = (body: string) => delivery.accept(1, { body, severity: 6 })
  return { clock, sender, told, delivery, log, value }
}

/** True when the equation of the ledger holds, for the sum and for each lane. */
export function addsUp(ledger: Ledger): boolean {
  return [ledger, ...ledger.lanes].every(
    (counts) => counts.accepted === settledTotal(counts) + counts.spooled + counts.queued + counts.inFlight,
  )
}
