import type { EngineDelivery } from '../../src/engine/engine-delivery.js'
import { type Contents, contentsOf } from './contents.js'
import type { Coverage } from './coverage.js'
import { count } from './coverage.js'
import { CoverageWatch } from './coverage-watch.js'
import { useTimeOf } from './global-time.js'
import { checkEnd, checkNow } from './oracle.js'
import { SimulatedProcess, type SimulatedRecord } from './process/simulated-process.js'
import { checkOrder } from './request-order.js'
import { checkRequests, type RequestFacts } from './request-rules.js'
import { RunningFaults } from './running-faults.js'
import type { PlannedProcess, Schedule } from './schedule.js'
import { idOf, Site } from './site.js'
import { World } from './world.js'

/** The result of a simulation. */
export interface Verdict {
  readonly failures: readonly string[]
  readonly trace: readonly string[]
  readonly traceHash: string
  readonly simulatedMs: number
  readonly steps: number
  readonly coverage: Coverage
  /** By id of a record: when the service stored it first, in ms since the begin of the simulation. */
  readonly storedAt: ReadonlyMap<number, number>
}

export interface SimulationOptions {
  /** Keep the lines of the trace. @default false */
  readonly keepsTrace?: boolean
  /** What a delivery has. Called once for each. @default what it really has */
  readonly contentsOf?: (delivery: EngineDelivery) => Contents
}

/** Within this time after the end of all faults, everything must be settled. */
const usualLivenessMs = 30 * 60_000
/** Where records get 403, a lane may take each of them for a wrong key, and probe every five minutes. */
const longestLivenessMs = 6 * usualLivenessMs
/** The oracle looks after so many events. */
const stepsPerLook = 40
const usualStart = { startMs: 50, fails: false }

/** Run a schedule: first with faults, then without, until everything is settled. The same schedule gives the same verdict. */
export async function simulate(schedule: Schedule, options: SimulationOptions = {}): Promise<Verdict> {
  const world = new World(schedule.seed, options)
  const coverage: Coverage = new Map()
  const site = await Site.open(world, { schedule, contentsOf, ...options, reached: (name) => count(coverage, name) })
  return new Simulation({ schedule, world, site, coverage }).run()
}

interface SimulationPlan {
  readonly schedule: Schedule
  readonly world: World
  readonly site: Site
  readonly coverage: Coverage
}

class Simulation {
  readonly #schedule: Schedule
  readonly #world: World
  readonly #site: Site
  /** By their number in the schedule. */
  readonly #processes = new Map<number, SimulatedProcess>()
  readonly #all: SimulatedProcess[] = []
  readonly #faults: RunningFaults
  readonly #coverage: Coverage
  readonly #watch: CoverageWatch
  #nextLook = 0
  readonly #livenessMs: number
  /** Ids of records that the service never takes. */
  readonly #bad: ReadonlySet<number>

  constructor({ schedule, world, site, coverage }: SimulationPlan) {
    this.#schedule = schedule
    this.#world = world
    this.#site = site
    this.#coverage = coverage
    this.#watch = new CoverageWatch(world, coverage)
    const reached = (name: string) => count(coverage, name)
    this.#faults = new RunningFaults({ world, site, processes: this.#processes, reached })
    const isPoisoned = schedule.faults.some(({ on }) => on === 'records')
    const bad = schedule.bursts.flatMap(({ records }) => (isPoisoned ? records.filter(isBad) : []))
    this.#bad = new Set(bad.map(({ id }) => id))
    const isRefused = schedule.faults.some(
      ({ on, kind }) => on === 'records' && (kind === '403' || kind === '413 page'),
    )
    this.#livenessMs = isRefused ? longestLivenessMs : usualLivenessMs
  }

  async run(): Promise<Verdict> {
    const world = this.#world
    const restoreTime = useTimeOf(world)
    const stopWatching = this.#watch.machines()
    const rejected = (reason: unknown) =>
      world.fail(`a rejection that nobody handles: ${reason instanceof Error ? reason.stack : reason}`)
    process.on('unhandledRejection', rejected)
    try {
      this.#plan()
      await this.#run(this.#schedule.healsAt)
      this.#heal()
      await this.#run(this.#livenessMs, () => this.#settled)
      if (!this.#settled)
        world.fail(`not settled ${this.#livenessMs / 60_000} minutes after the faults: ${this.#unsettled}`)
      await this.#closeAll()
      await this.#adoptTheRest()
      this.#checkEnd()
    } finally {
      await this.#site.close()
      process.off('unhandledRejection', rejected)
      stopWatching()
      restoreTime()
    }
    return {
      failures: world.failures,
      trace: world.trace,
      traceHash: world.traceHash,
      simulatedMs: world.now,
      steps: world.steps,
      coverage: this.#coverage,
      storedAt: this.#site.evidence.storedAt,
    }
  }

  #plan(): void {
    const { processes, bursts, flushes, faults } = this.#schedule
    const world = this.#world
    for (const [number, planned] of processes.entries()) {
      world.schedule(() => this.#start(number, planned), planned.startsAt)
      if (planned.end !== 'stays') world.schedule(() => this.#end(number, planned.end), planned.endsAt)
    }
    for (const { process, at, everyMs, records } of bursts) {
      for (const [index, record] of records.entries()) {
        world.schedule(() => this.#log(process, record), at + index * everyMs)
      }
    }
    for (const { process, at, timeoutMs } of flushes) {
      world.schedule(() => this.#inApp(process, (each) => each.flush(timeoutMs)), at)
    }
    for (const fault of faults) world.schedule(() => this.#faults.begin(fault), fault.at)
  }

  #start(number: number, { mode, starts }: Pick<PlannedProcess, 'mode' | 'starts'>): SimulatedProcess {
    let started = 0
    const process = new SimulatedProcess(this.#world, {
      name: `p${number}`,
      mode,
      options: this.#site.options,
      machineOf: (thread, owner) => this.#site.machineOf(thread, owner),
      nextStart: () => starts[started++] ?? usualStart,
      waitsForDisk: (thread) => this.#site.waitsForDisk(thread),
      socketsOf: (thread) => this.#site.socketsOf(thread),
      reached: (name) => count(this.#coverage, name),
    })
    this.#processes.set(number, process)
    this.#all.push(process)
    return process
  }

  /** Log a record, also while the application closes Sluice, or a signal is drained. */
  #log(number: number, record: SimulatedRecord): void {
    const process = this.#processes.get(number)
    process?.app.post(() => {
      if (process.end !== undefined || (process.ending && !process.closing && !process.draining)) return
      if (process.draining) count(this.#coverage, 'logged while a signal is drained')
      process.log(record)
    })
  }

  /** Run a task in the thread of an application, if that is there. */
  #inApp(number: number, task: (process: SimulatedProcess) => void): void {
    const process = this.#processes.get(number)
    process?.app.post(() => {
      if (!process.ending) task(process)
    })
  }

  #end(number: number, how: PlannedProcess['end']): void {
    if (how === 'kill') this.#faults.kill(this.#processes.get(number)!)
    else if (how === 'close') this.#inApp(number, (each) => each.close(each.port.options.shutdownTimeoutMs))
    else if (how === 'exit') this.#inApp(number, (each) => each.exit())
    else if (how === 'signal') this.#inApp(number, (each) => each.signal())
  }

  #heal(): void {
    this.#world.note('all faults are over')
    this.#faults.heal()
  }

  async #run(ms: number, done: () => boolean = () => false): Promise<void> {
    if (done()) return
    await this.#world.run(ms, () => {
      if (this.#world.steps < this.#nextLook) return false
      this.#nextLook = this.#world.steps + stepsPerLook
      this.#look()
      return done()
    })
    this.#look()
  }

  #look(): void {
    checkNow(this.#world, this.#all)
    this.#watch.look(this.#all, this.#faults.active)
  }

  get #settled(): boolean {
    return this.#unsettled === ''
  }

  get #unsettled(): string {
    const parts = this.#all.flatMap((process) => {
      if (process.end !== undefined) return []
      const { queued, inFlight, spooled } = process.port.stats()
      if (process.ending) return [`${process.name} is ending`]
      // Records that a worker has left on disk may be taken over by another process.
      const open = queued + inFlight + (process.mode === 'worker' && this.#all.length > 1 ? 0 : spooled)
      // A bad record is only known as bad where others succeed after it.
      return open <= this.#badLeft
        ? []
        : [`${process.name} has ${queued} queued, ${inFlight} in flight, ${spooled} spooled`]
    })
    return parts.join('; ')
  }

  /** Bad records that were accepted and are not settled, at most. */
  get #badLeft(): number {
    if (this.#bad.size === 0) return 0
    return this.#all.reduce((sum, { accepted }) => sum + [...this.#bad].filter((id) => accepted.has(id)).length, 0)
  }

  get #isSpoolDone(): boolean {
    return (
      this.#site.segments.length === 0 ||
      (this.#bad.size > 0 && this.#site.undelivered.every((id) => this.#bad.has(id)))
    )
  }

  async #closeAll(): Promise<void> {
    const open = this.#all.filter(({ end, ending }) => end === undefined && !ending)
    for (const process of open) process.app.post(() => process.close(process.port.options.shutdownTimeoutMs))
    await this.#run(60_000, () => this.#all.every(({ end }) => end !== undefined))
    for (const process of this.#all) {
      if (process.end === undefined) this.#world.fail(`${process.name} does not end`)
    }
  }

  /** Another process takes over what dead ones have left. */
  async #adoptTheRest(): Promise<void> {
    if (this.#isSpoolDone) return
    const heir = this.#start(this.#schedule.processes.length, { mode: 'inline', starts: [] })
    const isDone = () => this.#isSpoolDone && this.#settled
    await this.#run(this.#livenessMs, isDone)
    if (!isDone())
      this.#world.fail(
        `the spool is not empty: ${this.#unsettled}; records ${this.#site.undelivered.join(' ')} in ${this.#site.segments.length} files`,
      )
    heir.app.post(() => heir.close(heir.port.options.shutdownTimeoutMs))
    await this.#run(60_000, () => heir.end !== undefined)
  }

  #checkEnd(): void {
    this.#watch.end(this.#all)
    const left = new Set(this.#site.undelivered.filter((id) => this.#bad.has(id)))
    const facts = { ...this.#site.evidence, schedule: this.#schedule, processes: this.#all }
    checkEnd(this.#world, { ...facts, left })
    const requestFacts: RequestFacts = {
      ...facts,
      idOf: ({ recordId }) => (recordId === '' ? undefined : idOf(recordId)),
    }
    checkRequests(this.#world, requestFacts)
    checkOrder(this.#world, requestFacts)
  }
}

/** True for a record that the service never takes, where the schedule has bad ones. */
export function isBad({ by, message }: SimulatedRecord): boolean {
  return by !== 'track' && message.includes(' poison ')
}
