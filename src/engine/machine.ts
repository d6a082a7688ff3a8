import { type BellMaker, sharedBell } from '../control/bell.js'
import { maxBatch } from '../delivery/batch.js'
import type { ConnectionOptions } from '../http/connector.js'
import { type ExitLoop, startExitLoop } from '../http/exit-loop.js'
import { whenDiskAnswers } from '../runtime/disk-watch.js'
import { type Files, nodeFiles } from '../runtime/files.js'
import { type Loop, systemLoop } from '../runtime/loop.js'
import { type ServiceReach, sharedReach } from '../runtime/shared-reach.js'
import { processNow } from '../runtime/shared-state.js'
import { machineOwners, type Owners } from '../spool/owner.js'
import type { EngineDelivery } from './engine-delivery.js'

/** The machine as an engine uses it: whatever does not follow from the options and the records. */
export interface Machine {
  readonly clock: Loop
  /** The clock that all threads of the process share. */
  readonly processNow: () => number
  readonly bell: BellMaker
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
  /** Looks into the delivery of each engine. */
  readonly watch?: (delivery: EngineDelivery) => void
  /** Start a loop that goes on while this thread is blocked. Undefined when it does not start within `withinMs`. */
  readonly startExitLoop: (withinMs: number) => ExitLoop | undefined
}

/** The machine of this thread. */
export const thisMachine: Machine = {
  clock: systemLoop,
  processNow,
  bell: sharedBell,
  random: Math.random,
  files: nodeFiles,
  owners: machineOwners,
  maxBatch,
  whenDiskAnswers,
  service: sharedReach,
  startExitLoop,
}
