import { ModeMachine } from '../../src/hand-off/mode-machine.js'
import type { Coverage } from './coverage.js'
import { count } from './coverage.js'
import type { Fault } from './faults.js'
import { useTimeOf } from './global-time.js'
import { checkEnd, checkNow } from './oracle.js'
import { SimulatedProcess, type SimulatedRecord } from './process/simulated-process.js'
import { checkRequests } from './request-rules.js'
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
}

/** Within this time after the end of all faults, everything must be settled. */
const usualLivenessMs = 30 * 60_000
/** Where records get 403, a lane may take each of them for a wrong key, and probe every five minutes. */
const longestLivenessMs = 6 * usualLivenessMs
/** The oracle looks after so many events. */
const stepsPerLook = 40
const dayMs = 86_400_000
const usualStart = { startMs: 50, fails: false }

/** Run a schedule: first with faults, then without, until everything is settled. The same schedule gives the same verdict. */
export async function simulate(schedule: Schedule, options: { readonly keepsTrace?: boolean } = {}): Promise<Verdict> {
  const world = new World(schedule.seed, options)
  const coverage: Coverage = new Map()
  const site = await Site.open(world, { schedule, reached: (name) => count(coverage, name) })
  return new Simulation({ schedule, world, site, coverage }).run()
}

class Simulation {
  readonly #schedule: Schedule
  readonly #world: World
  readonly #site: Site
  /** By their number in the schedule. */
  readonly #processes = new Map<number, SimulatedProcess>()
  readonly #all: SimulatedProcess[] = []
  readonly #active = new Set<Fault>()
  readonly #coverage: Coverage
  readonly #laneStates = new Map<string, string>()
  #nextLook = 0
  readonly #livenessMs: number
  /** Ids of records that the service never takes. */
  readonly #bad: ReadonlySet<number>

  constructor({
    schedule,
    world,
    site,
    coverage,
  }: { schedule: Schedule; world: World; site: Site; coverage: Coverage }) {
    this.#schedule = schedule
    this.#world = world
    this.#site = site
    this.#coverage = coverage
    const isPoisoned = schedule.faults.some(({ on }) => on === 'records')
    const bad = schedule.bursts.flatMap(({ records }) => (isPoisoned ? records.filter(isBad) : []))
    this.#bad = new Set(bad.map(({ id }) => id))
    const isRefused = schedule.faults.some(({ on, kind }) => on === 'records' && kind === '403')
    this.#livenessMs = isRefused ? longestLivenessMs : usualLivenessMs
  }

  async run(): Promise<Verdict> {
    const world = this.#world
    const restoreTime = useTimeOf(world)
    const stopWatching = watchMachines((name) => count(this.#coverage, name))
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
    for (const fault of faults) world.schedule(() => this.#begin(fault), fault.at)
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
      reached: (name) => count(this.#coverage, name),
    })
    this.#processes.set(number, process)
    this.#all.push(process)
    return process
  }

  /** Log a record, also while the application closes Sluice. */
  #log(number: number, record: SimulatedRecord): void {
    const process = this.#processes.get(number)
    process?.app.post(() => {
      if (!process.ending || (process.closing && process.end === undefined)) process.log(record)
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
    if (how === 'kill') this.#kill(this.#processes.get(number)!)
    else if (how === 'close') this.#inApp(number, (each) => each.close(each.port.options.shutdownTimeoutMs))
    else if (how === 'exit') this.#inApp(number, (each) => each.exit())
    else if (how === 'signal') this.#inApp(number, (each) => each.signal())
  }

  #kill(process: SimulatedProcess): void {
    if (process.end !== undefined) return
    this.#site.willBeKilled(process)
    this.#site.noteAcknowledged()
    process.kill()
  }

  #begin(fault: Fault): void {
    this.#world.note(`fault: ${JSON.stringify(fault)}`)
    if (fault.on === 'process') this.#beginInProcess(fault)
    else if (fault.on === 'power') {
      count(this.#coverage, 'power loss')
      this.#losePower()
    } else if (fault.on === 'clock') this.#world.clockJumpMs = fault.kind === 'back' ? -dayMs : dayMs
    else if (fault.kind === 'deploy') this.#site.deploy(fault)
    else if (fault.kind === 'folder deleted') this.#site.deleteSpool(this.#all)
    this.#active.add(fault)
    this.#site.apply([...this.#active])
    this.#world.schedule(() => {
      if (!this.#active.delete(fault)) return
      this.#world.note(`over: ${fault.on} ${fault.kind}`)
      if (fault.on === 'clock') this.#world.clockJumpMs = 0
      if (fault.on === 'process' && fault.kind === 'freeze') this.#processes.get(fault.process)?.thaw()
      this.#site.apply([...this.#active])
    }, fault.forMs)
  }

  #beginInProcess(fault: Fault & { on: 'process' }): void {
    const process = this.#processes.get(fault.process)
    if (process === undefined || process.end !== undefined) return
    if (fault.kind === 'freeze') process.freeze()
    else if (fault.kind === 'worker dies') {
      this.#site.noteAcknowledged()
      process.worker?.kill()
    } else if (fault.kind === 'worker hangs') process.worker?.freeze()
    else {
      const { operations, kind } = fault
      const renames = kind === 'killed in a rename'
      this.#site.killInWrite(process, { operations, renames, kill: () => this.#kill(process) })
    }
  }

  #losePower(): void {
    const alive = this.#all.filter(({ end }) => end === undefined)
    this.#site.losePower(this.#all, () => {
      for (const process of alive) process.kill()
    })
  }

  #heal(): void {
    this.#world.note('all faults are over')
    for (const fault of this.#active) if (fault.on !== 'records') this.#active.delete(fault)
    this.#world.clockJumpMs = 0
    for (const process of this.#all) if (process.app.frozen && !process.ending) process.thaw()
    this.#site.heal([...this.#active])
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
    for (const process of this.#all) {
      if (process.end !== undefined) continue
      for (const [index, { state, dropped, rejected, adopted, spooled, ambiguousRetries }] of process.port
        .stats()
        .lanes.entries()) {
        const name = `${process.name} ${index}`
        const before = this.#laneStates.get(name)
        if (before !== undefined && before !== state) count(this.#coverage, `lane ${before} > ${state}`)
        this.#laneStates.set(name, state)
        for (const fault of this.#active) {
          count(this.#coverage, `fault ${fault.on} ${fault.kind}, lane ${state}`)
        }
        for (const [reason, lost] of Object.entries(dropped)) if (lost > 0) count(this.#coverage, `dropped ${reason}`)
        if (rejected > 0) count(this.#coverage, 'rejected')
        if (adopted > 0) count(this.#coverage, 'adopted')
        if (spooled > 0) count(this.#coverage, 'spooled')
        if (ambiguousRetries > 0) count(this.#coverage, 'ambiguous retry')
      }
    }
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
    for (const { end, mode } of this.#all) {
      for (const [reason, lost] of Object.entries(end?.ledger.dropped ?? {})) {
        if (lost > 0) count(this.#coverage, `dropped ${reason}`)
      }
      if (end !== undefined) this.#world.note(`${mode} ${end.how}`)
    }
    const left = new Set(this.#site.undelivered.filter((id) => this.#bad.has(id)))
    const facts = { ...this.#site.evidence, schedule: this.#schedule, processes: this.#all }
    checkEnd(this.#world, { ...facts, left })
    checkRequests(this.#world, { ...facts, idOf: ({ recordId }) => (recordId === '' ? undefined : idOf(recordId)) })
  }
}

function isBad({ by, message }: SimulatedRecord): boolean {
  return by !== 'track' && message.includes(' poison ')
}

/** Report each change of mode of the machines. Returns an end of that. */
function watchMachines(reached: (name: string) => void): () => void {
  const { enter } = ModeMachine.prototype
  ModeMachine.prototype.enter = function (this: ModeMachine<string>, mode: string): boolean {
    const before = this.now
    const entered = enter.call(this, mode)
    if (entered) reached(`machine ${before} > ${mode}`)
    return entered
  }
  return () => {
    ModeMachine.prototype.enter = enter
  }
}
