import type { Fault } from './faults.js'
import type { SimulatedProcess } from './process/simulated-process.js'
import type { Site } from './site.js'
import type { World } from './world.js'

const dayMs = 86_400_000

export interface RunningFaultsPlan {
  readonly world: World
  readonly site: Site
  /** By their number in the schedule. More may come. */
  readonly processes: ReadonlyMap<number, SimulatedProcess>
  /** Called with the name of each thing that happened. */
  readonly reached: (name: string) => void
}

/** The faults of a schedule that are on now: begins and ends them. */
export class RunningFaults {
  readonly #plan: RunningFaultsPlan
  readonly #active = new Set<Fault>()

  constructor(plan: RunningFaultsPlan) {
    this.#plan = plan
  }

  get active(): ReadonlySet<Fault> {
    return this.#active
  }

  /** Put a fault on, for its time. */
  begin(fault: Fault): void {
    const { world, site, processes, reached } = this.#plan
    world.note(`fault: ${JSON.stringify(fault)}`)
    if (fault.on === 'process') this.#beginInProcess(fault)
    else if (fault.on === 'power') {
      reached('power loss')
      this.#losePower()
    } else if (fault.on === 'clock') world.clockJumpMs = fault.kind === 'back' ? -dayMs : dayMs
    else if (fault.kind === 'deploy') site.deploy(fault)
    else if (fault.kind === 'folder deleted') site.deleteSpool([...processes.values()])
    this.#active.add(fault)
    site.apply([...this.#active])
    world.schedule(() => {
      if (!this.#active.delete(fault)) return
      world.note(`over: ${fault.on} ${fault.kind}`)
      if (fault.on === 'clock') world.clockJumpMs = 0
      if (fault.on === 'process' && fault.kind === 'freeze') processes.get(fault.process)?.thaw()
      site.apply([...this.#active])
    }, fault.forMs)
  }

  /** End all faults. Bad records stay bad. */
  heal(): void {
    const { world, site, processes } = this.#plan
    world.clockJumpMs = 0
    for (const fault of this.#active) if (fault.on !== 'records') this.#active.delete(fault)
    for (const process of processes.values()) if (process.app.frozen && !process.ending) process.thaw()
    site.heal([...this.#active])
  }

  /** SIGKILL. */
  kill(process: SimulatedProcess): void {
    const { site } = this.#plan
    if (process.end !== undefined) return
    site.willBeKilled(process)
    site.noteAcknowledged()
    process.kill()
  }

  #beginInProcess(fault: Fault & { on: 'process' }): void {
    const { site, processes } = this.#plan
    const process = processes.get(fault.process)
    if (process === undefined || process.end !== undefined) return
    if (fault.kind === 'freeze') process.freeze()
    else if (fault.kind === 'worker dies') {
      site.noteAcknowledged()
      process.worker?.kill()
    } else if (fault.kind === 'worker hangs') process.worker?.freeze()
    else {
      const { operations, kind } = fault
      const claims = kind === 'killed in a claim'
      site.killInWrite(process, { operations, claims, kill: () => this.kill(process) })
    }
  }

  #losePower(): void {
    const all = [...this.#plan.processes.values()]
    const alive = all.filter(({ end }) => end === undefined)
    this.#plan.site.losePower(all, () => {
      for (const process of alive) process.kill()
    })
  }
}
