import { KeyWriter } from '../../src/log/idempotency-key.js'
import { gone, type Ref } from '../../src/log/segment.js'
import type { Severity } from '../../src/records/level.js'
import { Spool } from '../../src/spool/spool.js'
import type { SimulatedDisk } from '../simulation/disk/simulated-disk.js'
import type { SimulatedThread } from '../simulation/simulated-thread.js'
import { epochMs, type World } from '../simulation/world.js'
import { isOnDisk, Logs, lanes } from './logs.js'

export const spoolDir = '/var/lib/app/spool'
const readMs = 100

export interface SpoolLifePlan {
  readonly world: World
  readonly disk: SimulatedDisk
  readonly sync: boolean
  /** Of this process; the next has a higher one. */
  readonly number: number
}

/** A process with a spool, until it dies. In place of a delivery there is a list of the records that it has. */
export class SpoolLife {
  readonly thread: SimulatedThread
  readonly spool: Spool
  readonly logs: Logs
  /** Messages for people. */
  readonly said: string[] = []
  /** The records that are not settled, by their names. Those of dead processes are here once they have been read. */
  readonly records = new Map<string, Ref>()
  /** Called with the name of each record that an earlier process has left. */
  restored = (_name: string) => {}

  constructor({ world, disk, sync, number }: SpoolLifePlan) {
    const thread = world.thread(`process ${number}`)
    const keys = new KeyWriter(`process${number}`)
    this.thread = thread
    this.spool = new Spool({
      dir: spoolDir,
      url: 'http://service.test/',
      lanes,
      keys,
      maxBytes: 8_388_608,
      maxAgeMs: 3_600_000_000,
      sync,
      clock: thread.clock,
      wallClock: () => epochMs + Math.floor(thread.clock.now()),
      random: world.random(`spool ${number}`),
      report: (text) => {
        if (thread.alive) this.said.push(text)
      },
      files: disk.filesOf(thread),
      owners: disk.ownersOf(thread, { pid: 1000, started: number }),
    })
    this.logs = new Logs(this.spool, { keys })
    this.spool.start(this.logs)
    thread.post(() => this.#read(), readMs)
  }

  keep(name: string, severity: Severity): void {
    this.records.set(name, this.logs.keep(name, { severity }))
  }

  /** The service has taken the record. */
  settle(name: string): void {
    this.logs.settle(this.records.get(name)!)
    this.records.delete(name)
  }

  /** The names of the records that are on disk. */
  onDisk(): string[] {
    return [...this.records].filter(([, ref]) => isOnDisk(ref)).map(([name]) => name)
  }

  /** How many of the records are gone without having been settled. */
  get lost(): number {
    return [...this.records.values()].filter(({ segment, index }) => segment.states[index] === gone).length
  }

  #read(): void {
    for (const { message, ref } of this.logs.read('adopted')) {
      if (!this.thread.alive) return
      this.records.set(message, ref)
      this.restored(message)
    }
    this.thread.post(() => this.#read(), readMs)
  }
}
