import type { StoreOwner } from '../../../src/delivery/store.js'
import type { Severity } from '../../../src/records/level.js'
import { Spool } from '../../../src/spool/spool.js'
import type { SimulatedThread } from '../simulated-thread.js'
import { epochMs, type World } from '../world.js'
import type { SimulatedDisk } from './simulated-disk.js'

export const spoolDir = '/var/lib/app/spool'
const lanes = [
  { kind: 'logs', bucket: 'b' },
  { kind: 'values', bucket: 'b' },
] as const

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
  /** Messages for people. */
  readonly said: string[] = []
  /** The records in memory by their names. */
  readonly records = new Map<string, object>()
  /** Called with the names of records when they are on disk. */
  written = (_names: readonly string[]) => {}
  /** Called with the name of each record that an earlier process has left. */
  restored = (_name: string) => {}
  /** Called with a number of records that the spool lost. */
  lost = (_count: number) => {}
  #unwritten: string[] = []

  constructor({ world, disk, sync, number }: SpoolLifePlan) {
    const thread = world.thread(`process ${number}`)
    this.thread = thread
    this.spool = new Spool({
      dir: spoolDir,
      url: 'http://service.test/',
      lanes,
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
    this.spool.start(this.#owner())
  }

  keep(name: string, severity: Severity): void {
    const body = JSON.stringify({ message: name })
    const record = { body, bytes: Buffer.byteLength(body), severity, idempotencyKey: `key-${name}` }
    const place = this.spool.keep(severity === 6 ? 1 : 0, record)
    if (place === undefined || !this.thread.alive) return
    this.#unwritten.push(name)
    this.records.set(name, place)
  }

  /** The service has taken the record. */
  settle(name: string): void {
    this.spool.settle(this.records.get(name)!)
    this.records.delete(name)
  }

  #owner(): StoreOwner {
    const lose = (count: number) => {
      if (this.thread.alive) this.lost(count)
    }
    return {
      room: () => ({ records: 1000, bytes: 1_000_000 }),
      adopt: () => {},
      restore: (_lane, records) => {
        for (const { body, place } of this.thread.alive ? records : []) {
          const name: string = JSON.parse(body).message
          this.records.set(name, place)
          this.restored(name)
        }
      },
      written: () => {
        const names = this.#unwritten
        this.#unwritten = []
        if (this.thread.alive) this.written(names)
      },
      forgotten: (_lane, count) => lose(count),
      lost: (_lane, { count }) => lose(count),
    }
  }
}
