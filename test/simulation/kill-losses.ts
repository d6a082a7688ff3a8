import { droppedTotal } from '../../src/delivery/ledger.js'
import { longestLatencyMs } from './process/simulated-link.js'
import type { SimulatedProcess } from './process/simulated-process.js'
import type { Schedule } from './schedule.js'
import type { World } from './world.js'

export interface KillFacts {
  readonly schedule: Schedule
  /** It is about to be killed. */
  readonly process: SimulatedProcess
  /** Ids of the records in the spool. */
  readonly spooled: ReadonlySet<number>
  /** How often the service has stored each record. */
  readonly stored: ReadonlyMap<number, number>
}

/**
 * With a spool, SIGKILL costs the records that were not yet with the engine. In the turn of the event loop in which it takes a record, it
 * writes it to disk. So only a record on its way to the worker may be lost.
 */
export function checkKill(world: World, { schedule, process, spooled, stored }: KillFacts): void {
  if (!promisesToKeep(schedule) || !process.handsOver) return
  const lost = [...process.accepted].filter(
    ([id, { at }]) => at < world.now - longestLatencyMs && !spooled.has(id) && !stored.has(id),
  )
  const ledger = process.port.stats()
  const counted = droppedTotal(ledger) + ledger.rejected
  if (lost.length <= counted) return
  const [[id, { at }]] = lost as [(typeof lost)[number]]
  world.fail(
    `SIGKILL costs ${lost.length} records of ${process.name} that were there for longer than ${longestLatencyMs} ms, ` +
      `and ${counted} are counted: record ${id} was accepted ${(world.now - at).toFixed(1)} ms before`,
  )
}

function promisesToKeep({ options, faults }: Schedule): boolean {
  // Records that find no room in a full spool are in memory only.
  if (options.spoolDir === undefined || options.spoolMaxBytes !== undefined) return false
  // A disk that fails or waits keeps nothing. A thread that stands takes no records, and a death in a write is in the middle of the turn.
  return !faults.some(({ on }) => on === 'disk' || on === 'process' || on === 'power')
}
