import { KeyWriter } from '../../src/log/idempotency-key.js'
import { Spool, type SpoolPlan } from '../../src/spool/spool.js'
import { Logs } from './logs.js'
import { spoolPlan } from './spool.js'
import { VirtualClock } from './virtual-clock.js'
import { WatchedFiles } from './watched-files.js'

let engines = 0

interface Changes extends Partial<Omit<SpoolPlan, 'clock'>> {
  readonly clock?: VirtualClock
  readonly maxQueueBytes?: number
}

/** A spool with logs in a real folder, in virtual time. It writes only when a test says so, and each second. */
export function setUpLoneSpool(
  dir: string,
  { clock = new VirtualClock(), maxQueueBytes = 64_000_000, ...changes }: Changes = {},
) {
  const said: string[] = []
  const disk = new WatchedFiles()
  const keys = new KeyWriter(`engine${++engines}`)
  const plan = spoolPlan({ dir, clock, said, keys })
  const spool = new Spool({ ...plan, maxBytes: 4_194_304, files: disk.files, ...changes })
  const logs = new Logs(spool, { keys, maxQueueBytes })
  spool.start(logs)
  return { clock, said, disk, spool, logs, keys }
}

/** An engine has ended and has left records with such texts. */
export function leave(dir: string, messages: readonly string[], changes: Changes = {}): void {
  const { spool, logs } = setUpLoneSpool(dir, changes)
  for (const message of messages) logs.keep(message)
  spool.close()
}
