import type { Owner, OwnerState, Owners } from '../../../src/spool/owner.js'
import type { SimulatedThread } from '../simulated-thread.js'

export interface OwnerPlan {
  readonly pid: number
  /** The start of the thread. Processes that get the same number one after another differ in it. */
  readonly started: number
  /** Threads of different namespaces cannot see each other, as in two containers. @default the same for all */
  readonly namespace?: string
}

interface Known {
  readonly owner: Owner
  readonly thread: SimulatedThread
}

/** The threads of a machine as owners of locks. */
export class SimulatedOwners {
  readonly #known: Known[] = []
  #starts = 1

  /** The machine starts again: nobody knows the threads of before. */
  restart(): void {
    this.#starts++
  }

  of(thread: SimulatedThread, { pid, started, namespace = 'pid:[1]' }: OwnerPlan): Owners {
    const self: Owner = {
      host: 'machine.test',
      pid,
      boot: `boot-${this.#starts}`,
      namespace,
      thread: this.#known.length + 1,
      started: String(started),
    }
    this.#known.push({ owner: self, thread })
    return {
      current: () => self,
      stateOf: (owner) => this.#stateOf(owner, self),
      isInUse: (other) => this.#known.some(({ owner, thread }) => owner.pid === other && thread.alive),
    }
  }

  #stateOf(owner: Owner, self: Owner): OwnerState {
    if (owner.boot !== self.boot || owner.namespace !== self.namespace) return 'unknown'
    const known = this.#known.find(
      (each) =>
        each.owner.pid === owner.pid && each.owner.thread === owner.thread && each.owner.started === owner.started,
    )
    return known?.thread.alive === true ? 'alive' : 'dead'
  }
}
