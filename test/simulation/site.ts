import { maxBatch } from '../../src/delivery/batch.js'
import type { EngineDelivery } from '../../src/engine/engine-delivery.js'
import type { Machine } from '../../src/engine/machine.js'
import type { SluiceOptions } from '../../src/options/options.js'
import type { Contents } from './contents.js'
import { SimulatedDisk } from './disk/simulated-disk.js'
import { networkChanges, poisonOf, serviceChanges, troubleDisk } from './fault-effects.js'
import type { Fault, Poison } from './faults.js'
import { checkKill } from './kill-losses.js'
import { fineConditions } from './network/conditions.js'
import { SimulatedNetwork } from './network/simulated-network.js'
import { SimulatedExitLoop } from './process/simulated-exit-loop.js'
import type { SimulatedProcess } from './process/simulated-process.js'
import type { Schedule } from './schedule.js'
import { type Behaviour, fineBehaviour } from './service/behaviour.js'
import { receiverTenant, type Tenant } from './service/shared-receiver.js'
import { SimulatedService } from './service/simulated-service.js'
import type { SimulatedThread } from './simulated-thread.js'
import { acknowledgedIds, firstEvent, recordFilesIn, spooledIds } from './spooled-ids.js'
import type { World } from './world.js'

const spoolFolder = '/spool'
const threadStartMs = 50

export interface SitePlan {
  readonly schedule: Schedule
  /** What a delivery has. Called once for each. */
  readonly contentsOf: (delivery: EngineDelivery) => Contents
  /** Called with the name of each thing that happened. */
  readonly reached: (name: string) => void
}

/** The surroundings of the processes: network, service and disk, with the faults that are on now. */
export class Site {
  readonly options: SluiceOptions
  readonly #world: World
  readonly #schedule: Schedule
  readonly #contentsOf: SitePlan['contentsOf']
  readonly #network: SimulatedNetwork
  readonly #disk: SimulatedDisk
  readonly #service: SimulatedService
  readonly #tenant: Tenant | undefined
  readonly #unsaved = new Set<number>()
  /** When the acknowledgement of a record was first seen on disk. */
  readonly #acknowledged = new Map<number, number>()
  /** A scripted backend may take the receiver's place now. */
  #standsIn = false
  #threads = 0

  static async open(world: World, plan: SitePlan): Promise<Site> {
    const tenant = plan.schedule.service.kind === 'receiver' ? await receiverTenant() : undefined
    return new Site(world, { ...plan, tenant })
  }

  private constructor(
    world: World,
    { schedule, contentsOf, reached, tenant }: SitePlan & { readonly tenant: Tenant | undefined },
  ) {
    const { backends, proxyRetries } = schedule.service
    this.#world = world
    this.#schedule = schedule
    this.#contentsOf = contentsOf
    this.#tenant = tenant
    this.#network = new SimulatedNetwork(world, { reached })
    this.#disk = new SimulatedDisk(world, { reached })
    const served = tenant === undefined ? { proxy: proxyRetries } : { receiver: tenant }
    this.#service = new SimulatedService(world, this.#network, { backends, reached, ...served })
    const { apiKey, bucket } = tenant ?? { apiKey: 'k', bucket: 'b' }
    this.options = { ...schedule.options, url: this.#service.url, allowInsecure: true, apiKey, bucket }
    this.apply([])
  }

  /** The machine as the code in a thread sees it. */
  machineOf(thread: SimulatedThread, process: SimulatedProcess): Omit<Machine, 'bell' | 'processNow'> {
    const { requestTimeoutMs: connectTimeoutMs = 10_000 } = this.options
    const connection = { open: this.#network.connector(thread, { connectTimeoutMs }) }
    const started = ++this.#threads
    return {
      clock: thread.clock,
      random: this.#world.random(`${thread.name}/random`),
      files: this.#disk.filesOf(thread),
      owners: this.#disk.ownersOf(thread, { pid: started, started }),
      maxBatch: this.#schedule.maxBatch ?? maxBatch,
      whenDiskAnswers: (_folder, answers) => this.#disk.whenItAnswers(thread, answers),
      connection,
      print: () => {},
      watch: (delivery) => void process.opened.push({ thread, delivery, contents: this.#contentsOf(delivery) }),
      startExitLoop: () => {
        const sockets = process.thread('sockets')
        thread.block(threadStartMs)
        const connect = this.#network.connector(sockets, { connectTimeoutMs })
        return new SimulatedExitLoop({ clock: thread.clock, sockets, connect })
      },
    }
  }

  /** True while a thread waits for a disk that does not answer. */
  waitsForDisk(thread: SimulatedThread): boolean {
    const { hungUntilMs } = this.#disk.faults
    return hungUntilMs > this.#world.now && thread.clock.now() >= hungUntilMs
  }

  /** How many sockets the code of a thread has not closed. */
  socketsOf(thread: SimulatedThread): number {
    return this.#network.socketsOf(thread).length
  }

  /** Remember the records of a process that nobody can save once it is killed. */
  willBeKilled(process: SimulatedProcess): void {
    const spooled = this.#spools ? spooledIds(this.#disk, spoolFolder) : new Set<number>()
    for (const id of process.accepted.keys()) if (!spooled.has(id)) this.#unsaved.add(id)
    const { stored } = this.evidence
    checkKill(this.#world, { schedule: this.#schedule, process, spooled, stored })
  }

  /** Kill a process at one of the next operations of the thread that writes its spool. */
  killInWrite(
    process: SimulatedProcess,
    plan: { readonly operations: number; readonly claims: boolean; readonly kill: () => void },
  ): void {
    const { operations, claims, kill } = plan
    const thread = process.worker ?? process.app
    const die = () => {
      // The lines of this turn were not synced.
      if (this.#schedule.faults.some(({ on }) => on === 'power')) this.#giveUp(process)
      kill()
    }
    const how = { after: operations % 2 === 0, torn: operations % 3 === 0, ...(claims && { only: 'link' as const }) }
    this.#disk.killAt({ thread, operations, ...how, kill: die })
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
    // Acknowledgements are not synced.
    this.#acknowledged.clear()
  }

  /** Somebody deletes the folder of the spool: nobody can save what was accepted before. */
  deleteSpool(all: readonly SimulatedProcess[]): void {
    for (const process of all) this.#giveUp(process)
    this.#disk.deleteFolder(spoolFolder)
    this.#acknowledged.clear()
  }

  /** Remember which records the spool has as settled now. */
  noteAcknowledged(): void {
    if (!this.#spools) return
    for (const id of acknowledgedIds(this.#disk, spoolFolder)) {
      if (!this.#acknowledged.has(id)) this.#acknowledged.set(id, this.#world.now)
    }
  }

  #giveUp(process: SimulatedProcess): void {
    for (const id of process.accepted.keys()) this.#unsaved.add(id)
  }

  get #spools(): boolean {
    return this.options.spoolDir !== undefined
  }

  /** Put these faults on, and no others. */
  apply(faults: readonly Fault[]): void {
    const standsIn = this.#tenant !== undefined && faults.some(({ on }) => on === 'service')
    if (this.#standsIn && !standsIn) {
      // Requests to the scripted backend would go on.
      for (const backend of this.#service.backends) backend.crash()
      this.#network.resetAll()
    }
    this.#standsIn = standsIn
    this.#disk.faults.heal()
    this.#network.conditions = { ...fineConditions, latencyMs: this.#schedule.latencyMs }
    const poison = faults.find(({ on }) => on === 'records')?.kind as Poison | undefined
    this.#service.behave({ ...this.#usual, ...(poison && { poison: poisonOf(poison) }) })
    for (const fault of faults) {
      if (fault.on === 'disk') troubleDisk(this.#disk, fault)
      else if (fault.on === 'network') this.#applyToNetwork(fault)
      else if (fault.on === 'service') this.#applyToService(fault)
    }
  }

  /** A backend goes away, and comes back when the fault is over. */
  deploy({ backend = 0, chance, forMs }: Fault & { readonly on: 'service' }): void {
    this.#service.deploy(backend, { how: chance === 1 ? 'graceful' : 'abrupt', awayMs: forMs })
  }

  #applyToNetwork({ kind, chance }: Fault & { readonly on: 'network' }): void {
    const changes = networkChanges[kind](chance)
    this.#network.conditions = { ...this.#network.conditions, ...changes }
  }

  #applyToService({ kind, chance, backend }: Fault & { readonly on: 'service' }): void {
    if (kind === 'deploy') return
    const changes = serviceChanges[kind]
    // The scripted backend that takes the receiver's place has not its records, so it must store none.
    const stores =
      changes.trouble === undefined || ('when' in changes.trouble && changes.trouble.when === 'after commit')
    if (this.#tenant !== undefined && stores) return
    const own = this.#tenant === undefined ? { troubleChance: chance } : { receiver: false, troubleChance: 1 }
    for (const [number, each] of this.#service.backends.entries()) {
      if (backend === undefined || backend === number) each.behaviour = { ...each.behaviour, ...changes, ...own }
    }
  }

  /** The service without any fault. */
  get #usual(): Behaviour {
    const {
      answerMs,
      oneByOne,
      echoesKeys,
      honoursKeys,
      closesAfter,
      announcesClose,
      keepAliveMs,
      announcesKeepAlive,
      chunked,
    } = this.#schedule.service
    return {
      ...fineBehaviour,
      workMs: [answerMs / 2, answerMs],
      pipelined: oneByOne ? 'one by one' : 'side by side',
      echoesKeys,
      honoursKeys,
      requestsPerConnection: closesAfter === 0 ? Number.POSITIVE_INFINITY : closesAfter,
      announcesClose: announcesClose ? 'close' : 'no',
      idleMs: keepAliveMs,
      announcesIdle: announcesKeepAlive,
      form: chunked ? 'chunked' : 'length',
      // Requests that still come to the scripted backend after it stood in for the receiver are not stored.
      ...(this.#tenant && { receiver: true, trouble: { type: 'hang', when: 'before commit' } }),
    }
  }

  /** All is well from now on. Bad records stay bad. */
  heal(faults: readonly Fault[]): void {
    this.#network.heal()
    this.#service.heal()
    this.apply(faults)
  }

  /** Segments of the spool, living engines' included. */
  get segments(): readonly string[] {
    return this.#spools ? recordFilesIn(this.#disk, spoolFolder) : []
  }

  /** The ids of the records in the spool that the service does not have. */
  get undelivered(): readonly number[] {
    const { stored } = this.evidence
    const settled = acknowledgedIds(this.#disk, spoolFolder)
    return [...spooledIds(this.#disk, spoolFolder)].filter((id) => !stored.has(id) && !settled.has(id))
  }

  /** The facts about the service, for the oracle. */
  get evidence() {
    const stored = new Map<number, number>()
    const storedAt = new Map<number, number>()
    for (const [recordId, times] of this.#service.stored) {
      if (recordId === '') continue
      stored.set(idOf(recordId), times.length)
      storedAt.set(idOf(recordId), times[0]!)
    }
    const successes = this.#service.log.filter(({ committed, status }) => committed && status >= 200 && status < 300)
    const proxied = this.#service.proxy === undefined ? 0 : Number.POSITIVE_INFINITY
    const { log } = this.#service
    return {
      stored,
      storedAt,
      successes: successes.length,
      unsaved: this.#unsaved,
      proxied,
      log,
      acknowledged: this.#acknowledged,
    }
  }

  async close(): Promise<void> {
    await this.#service.verifyReceiver()
    this.#network.close()
    this.#tenant?.leave()
  }
}

/** The id of a record of the application, by its name in the journal. */
export function idOf(recordId: string): number {
  const number = Number(recordId.slice(1))
  return recordId.startsWith('v') ? number - firstEvent : number
}
