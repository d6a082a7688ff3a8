import { ModeMachine } from '../../src/hand-off/mode-machine.js'
import { type Coverage, count } from './coverage.js'
import type { Fault } from './faults.js'
import type { SimulatedProcess } from './process/simulated-process.js'
import type { World } from './world.js'

/** Watches which states a simulation reaches: of lanes, of machines, of the ledger, of processes, each with the faults that are on. */
export class CoverageWatch {
  readonly #world: World
  readonly #coverage: Coverage
  /** By process and lane: the state at the last look. */
  readonly #laneStates = new Map<string, string>()

  constructor(world: World, coverage: Coverage) {
    this.#world = world
    this.#coverage = coverage
  }

  /** Count the states in which the lanes of living processes are now. */
  look(processes: readonly SimulatedProcess[], faults: Iterable<Fault>): void {
    for (const process of processes) {
      if (process.end !== undefined) continue
      for (const [index, lane] of process.port.stats().lanes.entries()) {
        const { state, dropped, rejected, adopted, spooled, ambiguousRetries } = lane
        const name = `${process.name} ${index}`
        const before = this.#laneStates.get(name)
        if (before !== undefined && before !== state) this.#count(`lane ${before} > ${state}`)
        this.#laneStates.set(name, state)
        for (const fault of faults) this.#count(`fault ${fault.on} ${fault.kind}, lane ${state}`)
        this.#countDrops(dropped)
        if (rejected > 0) this.#count('rejected')
        if (adopted > 0) this.#count('adopted')
        if (spooled > 0) this.#count('spooled')
        if (ambiguousRetries > 0) this.#count('ambiguous retry')
      }
    }
  }

  /** Count the ends of processes. */
  end(processes: readonly SimulatedProcess[]): void {
    for (const { end, mode } of processes) {
      if (end === undefined) continue
      this.#countDrops(end.ledger.dropped)
      this.#world.note(`${mode} ${end.how}`)
    }
  }

  /** Count each change of mode of the machines. Returns an end of that. */
  machines(): () => void {
    const reached = (name: string) => this.#count(name)
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

  #countDrops(dropped: Readonly<Record<string, number>>): void {
    for (const [reason, lost] of Object.entries(dropped)) if (lost > 0) this.#count(`dropped ${reason}`)
  }

  #count(name: string): void {
    count(this.#coverage, name)
  }
}
