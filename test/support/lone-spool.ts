import type { Restored, Room, StoreOwner } from '../../src/delivery/store.js'
import type { Severity } from '../../src/records/level.js'
import { Spool, type SpoolPlan } from '../../src/spool/spool.js'
import { spoolPlan } from './spool.js'
import { VirtualClock } from './virtual-clock.js'
import { WatchedFiles } from './watched-files.js'

/** A spool without a delivery: what it tells its owner is noted. It writes only when a test says so. */
export function setUpLoneSpool(
  dir: string,
  { clock = new VirtualClock(), ...changes }: Partial<SpoolPlan> & { readonly clock?: VirtualClock } = {},
) {
  const said: string[] = []
  const disk = new WatchedFiles()
  const tasks: (() => void)[] = []
  const defer = (task: () => void) => void tasks.push(task)
  const spool = new Spool({ ...spoolPlan(dir, { clock, said }), files: disk.files, defer, ...changes })
  const owner = new NotingOwner()
  spool.start(owner)
  /** Give a record with such a text to the first lane. Undefined when the spool does not take it. */
  const keep = (text: string, severity: Severity = 2) => {
    const body = JSON.stringify({ message: text })
    return spool.keep(0, { body, bytes: Buffer.byteLength(body), severity, idempotencyKey: `key-${text.slice(0, 9)}` })
  }
  return { clock, said, disk, tasks, spool, owner, keep }
}

class NotingOwner implements StoreOwner {
  /** The calls in their order, without those of `written`. */
  readonly told: unknown[] = []
  readonly restored: Restored[] = []
  /** How often records were restored. */
  restores = 0
  /** How often all records were on disk. */
  writes = 0
  /** For adopted records. */
  free: Room = { records: 1000, bytes: 1_000_000 }

  room(): Room {
    return this.free
  }

  adopt(lane: number, count: number): void {
    this.told.push({ adopt: count, lane })
  }

  restore(_lane: number, records: readonly Restored[]): void {
    this.restores++
    this.restored.push(...records)
  }

  written(): void {
    this.writes++
  }

  forgotten(lane: number, count: number): void {
    this.told.push({ forgotten: count, lane })
  }

  lost(lane: number, loss: Parameters<StoreOwner['lost']>[1]): void {
    this.told.push({ lost: loss, lane })
  }
}
