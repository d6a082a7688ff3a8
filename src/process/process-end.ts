import type { ControlBlock } from '../control/control-block.js'

interface ProcessEndPlan {
  /** The blocks of engines of this thread. */
  readonly local: () => readonly ControlBlock[]
  /** The blocks of other threads, as far as they are known. */
  readonly remote: () => readonly ControlBlock[]
}

/** The end of the process. The main thread writes it into the control blocks of the engines of other threads, and they read it there. */
export class ProcessEnd {
  readonly #plan: ProcessEndPlan
  #beganAt: number | undefined
  #isToldHere = false

  constructor(plan: ProcessEndPlan) {
    this.#plan = plan
  }

  /** When it began, in milliseconds on the clock that all threads share; undefined before. */
  get beganAt(): number | undefined {
    return this.#beganAt ?? this.#plan.local().find(({ endBeganAt }) => endBeganAt !== undefined)?.endBeganAt
  }

  /** The first call counts. */
  begin(at: number): void {
    if (this.#beganAt !== undefined) return
    this.#beganAt = at
    for (const block of this.#plan.remote()) block.endBegan(at)
  }

  /** True once this thread tells the losses of all threads. */
  get isToldHere(): boolean {
    return this.#isToldHere
  }

  tellHere(): void {
    this.#isToldHere = true
    for (const block of this.#plan.remote()) block.tellByMain()
  }

  /** Another thread has opened an engine. */
  meet(block: ControlBlock): void {
    if (this.#beganAt !== undefined) block.endBegan(this.#beganAt)
    if (this.#isToldHere) block.tellByMain()
  }
}
