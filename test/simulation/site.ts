import { createServer } from 'node:http'
import type { Machine } from '../../src/engine/machine.js'
import type { SluiceOptions } from '../../src/options/options.js'
import type { DiskOperation } from './disk/disk-faults.js'
import type { FailureCode } from './disk/failure.js'
import { SimulatedDisk } from './disk/simulated-disk.js'
import type { Fault } from './faults.js'
import { SimulatedNetwork } from './network/simulated-network.js'
import type { SimulatedProcess } from './process/simulated-process.js'
import { simulatedSender } from './process/simulated-sender.js'
import type { Schedule } from './schedule.js'
import type { SimulatedThread } from './simulated-thread.js'
import { idOfBody, segmentsIn, spooledIds } from './spooled-ids.js'
import type { World } from './world.js'

const spoolFolder = '/spool'

/** The surroundings of the processes: network, service and disk, with the faults that are on now. */
export class Site {
  readonly options: SluiceOptions
  readonly #world: World
  readonly #schedule: Schedule
  readonly #network: SimulatedNetwork
  readonly #disk: SimulatedDisk
  readonly #stored = new Map<number, number>()
  readonly #unsaved = new Set<number>()
  #successes = 0
  #threads = 0

  constructor(world: World, schedule: Schedule, reached: (name: string) => void) {
    this.#world = world
    this.#schedule = schedule
    this.#network = new SimulatedNetwork(world, { reached })
    this.#disk = new SimulatedDisk(world, { reached })
    this.options = { ...schedule.options, url: 'http://service.test', allowInsecure: true, apiKey: 'k', bucket: 'b' }
    const server = createServer(
      { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0, connectionsCheckingInterval: 1e9 },
      (request, response) => {
        let body = ''
        request.on('data', (part) => {
          body += part
        })
        request.on('end', () => {
          const id = idOfBody(body)
          if (id !== undefined) this.#stored.set(id, (this.#stored.get(id) ?? 0) + 1)
          this.#successes++
          response.writeHead(201, {
            'content-type': 'application/json',
            'idempotency-key': request.headers['idempotency-key'] ?? '',
          })
          response.end('{"result":true}')
        })
      },
    )
    this.#network.listen('service.test:80', (socket) => void server.emit('connection', socket))
  }

  /** The machine as the code in a thread sees it. */
  machineOf(thread: SimulatedThread, process: SimulatedProcess): Machine {
    const { requestTimeoutMs: connectTimeoutMs = 10_000 } = this.options
    const connection = { open: this.#network.connector(thread, { connectTimeoutMs }) }
    const started = ++this.#threads
    return {
      clock: thread.clock,
      random: this.#world.random(`${thread.name}/random`),
      files: this.#disk.filesOf(thread),
      owners: this.#disk.ownersOf(thread, { pid: started, started }),
      connection,
      startSender: ({ url, userAgent, maxConnections, requestTimeoutMs, apiKey }) => {
        const own = process.thread('last drain')
        thread.block(threadStartMs)
        return simulatedSender(own, {
          url,
          userAgent,
          maxConnections,
          requestTimeoutMs,
          clock: own.clock,
          apiKey: { reveal: () => apiKey, renew: () => false },
          connection: { open: this.#network.connector(own, { connectTimeoutMs }) },
        })
      },
    }
  }

  /** True while a thread waits for a disk that does not answer. */
  waitsForDisk(thread: SimulatedThread): boolean {
    const { hungUntilMs } = this.#disk.faults
    return hungUntilMs > this.#world.now && thread.clock.now() >= hungUntilMs
  }

  /** Remember the records of a process that nobody can save once it is killed. */
  willBeKilled(process: SimulatedProcess): void {
    const saved = this.#spools ? spooledIds(this.#disk, spoolFolder) : new Set()
    for (const id of process.accepted.keys()) if (!saved.has(id)) this.#unsaved.add(id)
  }

  /** Kill a process at one of the next operations of the thread that writes its spool. */
  killInWrite(process: SimulatedProcess, plan: { readonly operations: number; readonly kill: () => void }): void {
    const { operations, kill } = plan
    const thread = process.worker ?? process.app
    const die = () => {
      // What was written in this turn was not synced.
      if (this.#schedule.faults.some(({ on }) => on === 'power')) this.#giveUp(process)
      kill()
    }
    this.#disk.killAt({ thread, operations, after: operations % 2 === 0, torn: operations % 3 === 0, kill: die })
  }

  /**
   * The machine stops. With `spoolSync`, and a disk that did not lie, what was written before this moment must survive; without it nothing
   * need.
   */
  losePower(all: readonly SimulatedProcess[], kill: () => void): void {
    const { options, faults } = this.#schedule
    const lies = faults.some(({ on, kind }) => on === 'disk' && kind === 'EIO at fsync')
    const saved = options.spoolSync === true && !lies ? spooledIds(this.#disk, spoolFolder) : new Set()
    for (const process of all) {
      for (const id of process.accepted.keys()) if (!saved.has(id)) this.#unsaved.add(id)
    }
    for (const process of all) for (const thread of process.threads) this.#network.losePower(thread)
    kill()
    this.#disk.powerLoss()
  }

  #giveUp(process: SimulatedProcess): void {
    for (const id of process.accepted.keys()) this.#unsaved.add(id)
  }

  get #spools(): boolean {
    return this.options.spoolDir !== undefined
  }

  /** Put these faults on, and no others. */
  apply(faults: readonly Fault[]): void {
    const disk = this.#disk.faults
    disk.heal()
    for (const fault of faults) {
      if (fault.on !== 'disk') continue
      const failing = diskFailures[fault.kind]
      if (failing !== undefined) disk.at.set(failing[1], { code: failing[0], chance: fault.chance })
      else if (fault.kind === 'ENOSPC') disk.capacityBytes = this.#disk.usedBytes + fullDiskBytes
      else if (fault.kind === 'EROFS') disk.readOnly = true
      else if (fault.kind === 'slow') disk.slowMs = slowDiskMs
      else if (fault.kind === 'hung') disk.hungUntilMs = fault.at + fault.forMs
      if (fault.kind === 'ENOSPC') disk.shortWrites = fault.chance / 2
    }
  }

  /** All is well from now on. */
  heal(): void {
    this.#network.heal()
    this.#disk.faults.heal()
  }

  /** Segments of the spool, living engines' included. */
  get segments(): readonly string[] {
    return this.#spools ? segmentsIn(this.#disk, spoolFolder) : []
  }

  get evidence() {
    return { stored: this.#stored, successes: this.#successes, unsaved: this.#unsaved, proxied: 0 }
  }

  async close(): Promise<void> {
    this.#network.close()
  }
}

const threadStartMs = 50
const slowDiskMs = 20
const fullDiskBytes = 2000

const diskFailures: Partial<Record<string, readonly [FailureCode, DiskOperation]>> = {
  EDQUOT: ['EDQUOT', 'write'],
  'EIO at write': ['EIO', 'write'],
  'EIO at fsync': ['EIO', 'fsync'],
  'EIO at close': ['EIO', 'close'],
  'EIO at read': ['EIO', 'read'],
}
