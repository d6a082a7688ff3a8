import { maxBatch } from '../delivery/record-batch.js'
import type { ConnectionOptions } from '../http/connector.js'
import { ThreadSender, type ThreadSenderPlan } from '../http/thread-sender.js'
import { whenDiskAnswers } from '../runtime/disk-watch.js'
import { type Files, nodeFiles } from '../runtime/files.js'
import { type Loop, systemLoop } from '../runtime/loop.js'
import { type ServiceReach, sharedReach } from '../runtime/shared-reach.js'
import { machineOwners, type Owners } from '../spool/owner.js'
import { type EngineDelivery, type EngineDeliveryPlan, SpooledDelivery, type StartedSender } from './engine-delivery.js'

/** The machine as an engine uses it: whatever does not follow from the options and the records. */
export interface Machine {
  readonly clock: Loop
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly files: Files
  readonly owners: Owners
  /** Most records in one batch. */
  readonly maxBatch: number
  /** Calls `answers` when a stalled disk takes files again. Returns an end of the watch. */
  readonly whenDiskAnswers: (folder: string, answers: () => void) => () => void
  /** Opens connections. @default sockets of Node */
  readonly connection?: Pick<ConnectionOptions, 'open'>
  /** The service at a URL, as other engines know it. @default each engine judges for itself */
  readonly service?: (url: string) => ServiceReach
  /** Writes one line for people. @default to stderr */
  readonly print?: (text: string) => void
  /** Opens the delivery of an engine. */
  readonly openDelivery: (plan: EngineDeliveryPlan) => EngineDelivery
  /** Start a thread that makes requests while this one is blocked. Undefined when none starts within `withinMs`. */
  readonly startSender: (plan: ThreadSenderPlan, withinMs: number) => StartedSender | undefined
}

/** The machine of this thread. */
export const thisMachine: Machine = {
  clock: systemLoop,
  random: Math.random,
  files: nodeFiles,
  owners: machineOwners,
  maxBatch,
  whenDiskAnswers,
  service: sharedReach,
  openDelivery: (plan) => new SpooledDelivery(plan),
  startSender: ThreadSender.start,
}
