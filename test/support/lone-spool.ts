import { KeyWriter } from '../../src/log/idempotency-key.js'
import { Spool, type SpoolPlan } from '../../src/spool/spool.js'
import { Logs, lanes } from './logs.js'
import { VirtualClock } from './virtual-clock.js'
import { WatchedFiles } from './watched-files.js'

const hourMs = 3_600_000
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
  const spool = new Spool({
    dir,
    url: 'http://127.0.0.1:1/',
    lanes,
    keys,
    maxBytes: 4_194_304,
    maxAgeMs: 72 * hourMs,
    sync: false,
    clock,
    wallClock: () => 1_700_000_000_000 + clock.now(),
    random: () => 0.5,
    report: (text) => said.push(text),
    files: disk.files,
    ...changes,
  })
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
