import type { Command, Report } from './events.js'
import type { Lane } from './lane.js'
import type { DeliveryPlan } from './plan.js'
import { backoffMs } from './rules.js'

/** One step of the machine: its moment, what it wants done, and which lanes look for something to send at its end. */
export class Turn {
  /** On the clock. */
  now = 0
  /** Drains are under way: records wait no longer than they have to. */
  isDraining = false
  /** On the clock: the start of the last of them. */
  drainsSince = Number.NEGATIVE_INFINITY
  /** Nothing comes after one of them. */
  isLastDrain = false
  /** On the clock: the start of the last drain, and its deadline. */
  lastDrainSince = Number.POSITIVE_INFINITY
  lastDrainUntil = Number.POSITIVE_INFINITY
  readonly toFill = new Set<Lane>()
  readonly #plan: Pick<DeliveryPlan, 'retry' | 'random'>
  #commands: Command[] = []

  constructor(plan: Pick<DeliveryPlan, 'retry' | 'random'>) {
    this.#plan = plan
  }

  want(command: Command): void {
    this.#commands.push(command)
  }

  tell(report: Report): void {
    this.want({ type: 'tell', report })
  }

  /** Returns the commands of this step. */
  end(): readonly Command[] {
    const commands = this.#commands
    this.#commands = []
    return commands
  }

  /** The backoff before the next attempt, in ms. */
  backoffMs(attempt: number): number {
    return backoffMs(attempt, { ...this.#plan, draining: this.isDraining })
  }

  /** The same before the next probe. In the last drain it leaves a quarter of the time, so that probes go on to its end. */
  probeBackoffMs(attempt: number): number {
    const waitMs = this.backoffMs(attempt)
    return this.#isPatient ? waitMs : Math.min(waitMs, Math.max(leastProbeMs, (this.lastDrainUntil - this.now) * 0.75))
  }

  /** True where retries are to be so rare that none fits into the last drain. */
  get #isPatient(): boolean {
    return this.lastDrainUntil - this.drainsSince < this.#plan.retry.baseMs
  }
}

/** Nearer to the end of the last drain no probe has an answer. */
const leastProbeMs = 10
