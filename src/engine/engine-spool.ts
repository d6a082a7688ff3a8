import type { LaneName } from '../delivery/ledger.js'
import type { RecordBuffer } from '../delivery/record-buffer.js'
import type { Store } from '../delivery/store.js'
import type { ResolvedOptions } from '../options/options.js'
import { type Clock, queueMicrotask } from '../runtime/clock.js'
import { Spool, type SpoolPlan } from '../spool/spool.js'
import type { EnginePosition } from './worker-position.js'

export interface EngineSpoolPlan {
  readonly options: ResolvedOptions
  /** The folder of the spools. */
  readonly spoolDir: string
  readonly lanes: readonly LaneName[]
  /** Shows that the worker waits for the disk. @default nowhere */
  readonly position: EnginePosition | undefined
  readonly report: (text: string) => void
  /** What a spool uses of it. */
  readonly machine: Required<Pick<SpoolPlan, 'clock' | 'random' | 'files' | 'owners'>>
}

/** Runs work that may wait for a disk. */
type OnDisk = <Result>(work: () => Result) => Result

const hourMs = 3_600_000

/** The spool of an engine. While it uses the disk, the worker's position says so: a disk that stalls stops the thread. */
export class EngineSpool {
  readonly store: Store
  readonly #spool: Spool
  readonly #onDisk: OnDisk

  constructor({ options, spoolDir, lanes, position, report, machine }: EngineSpoolPlan) {
    const onDisk: OnDisk = (work) => (position === undefined ? work() : position.worker.onDisk(position.engine, work))
    this.#onDisk = onDisk
    this.#spool = new Spool({
      dir: spoolDir,
      url: options.url,
      lanes,
      maxBytes: options.spoolMaxBytes,
      maxAgeMs: options.spoolMaxAgeHours * hourMs,
      sync: options.spoolSync,
      clock: clockOnDisk(machine.clock, onDisk),
      defer: (task) => queueMicrotask(() => onDisk(task)),
      wallClock: Date.now,
      random: machine.random,
      files: machine.files,
      owners: machine.owners,
      report,
    })
    this.store = storeOnDisk(this.#spool, onDisk)
  }

  start(buffer: RecordBuffer): void {
    this.#onDisk(() => this.#spool.start(buffer))
  }

  commit(): void {
    this.#onDisk(() => this.#spool.commit())
  }

  acknowledge(): void {
    this.#onDisk(() => this.#spool.acknowledge())
  }
}

function storeOnDisk(store: Store, onDisk: OnDisk): Store {
  return {
    get lossReason() {
      return store.lossReason
    },
    keep: (lane, record) => onDisk(() => store.keep(lane, record)),
    look: () => onDisk(() => store.look()),
    park: (place) => onDisk(() => store.park(place)),
    unpark: (lane, room) => onDisk(() => store.unpark(lane, room)),
    settle: (place) => onDisk(() => store.settle(place)),
    reject: (lane, record, refusal) => onDisk(() => store.reject(lane, record, refusal)),
    close: () => onDisk(() => store.close()),
  }
}

/** The tasks of a spool read and write files. */
function clockOnDisk(clock: Clock, onDisk: OnDisk): Clock {
  return {
    now: () => clock.now(),
    schedule: (task, delayMs, keepAlive) => clock.schedule(() => onDisk(task), delayMs, keepAlive),
  }
}
