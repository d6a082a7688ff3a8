import type { Clock, Timer } from '../runtime/clock.js'

/** A line that is kept in case an error comes. */
export interface KeptLine {
  /** Bytes of its record. */
  readonly bytes: number
}

interface Kept<Line> {
  readonly id: string
  readonly line: Line
  /** On the clock. */
  readonly until: number
}

export interface KeptForErrorPlan<Line> {
  readonly clock: Clock
  /** Most lines for each id. */
  readonly lines: number
  /** How long a line is kept. */
  readonly windowMs: number
  /** Most bytes of all lines. */
  readonly maxBytes: number
  /** Called for each line that is given up. */
  readonly unneeded: (line: Line) => void
}

/**
 * The last lines of each request or trace, until an error of it comes or their time is over. The oldest line goes first when its request has
 * too many, or all together are too large.
 */
export class KeptForError<Line extends KeptLine> {
  readonly #plan: KeptForErrorPlan<Line>
  /** In the order of their arrival, and so of their end. */
  readonly #all = new Set<Kept<Line>>()
  readonly #byId = new Map<string, Set<Kept<Line>>>()
  #bytes = 0
  #timer: Timer | undefined

  constructor(plan: KeptForErrorPlan<Line>) {
    this.#plan = plan
  }

  keep(id: string, line: Line): void {
    const { clock, lines, windowMs, maxBytes } = this.#plan
    const kept = { id, line, until: clock.now() + windowMs }
    const ofId = this.#byId.get(id) ?? new Set()
    this.#byId.set(id, ofId)
    ofId.add(kept)
    this.#all.add(kept)
    this.#bytes += line.bytes
    if (ofId.size > lines) this.#giveUp(firstOf(ofId))
    while (this.#bytes > maxBytes) this.#giveUp(firstOf(this.#all))
    this.#schedule()
  }

  /** The lines of an id, in the order of their arrival. They are kept no more. */
  take(id: string): Line[] {
    this.#expire()
    const taken = [...(this.#byId.get(id) ?? [])]
    for (const kept of taken) this.#remove(kept)
    return taken.map(({ line }) => line)
  }

  /** Give up all lines. */
  end(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    for (const kept of this.#all) this.#giveUp(kept)
  }

  #giveUp(kept: Kept<Line>): void {
    this.#remove(kept)
    this.#plan.unneeded(kept.line)
  }

  #remove(kept: Kept<Line>): void {
    this.#all.delete(kept)
    const ofId = this.#byId.get(kept.id)!
    ofId.delete(kept)
    if (ofId.size === 0) this.#byId.delete(kept.id)
    this.#bytes -= kept.line.bytes
  }

  #expire(): void {
    const now = this.#plan.clock.now()
    for (const kept of this.#all) {
      if (kept.until > now) return
      this.#giveUp(kept)
    }
  }

  /** One timer for all lines, at the end of the oldest one. */
  #schedule(): void {
    if (this.#timer !== undefined || this.#all.size === 0) return
    const { clock } = this.#plan
    this.#timer = clock.schedule(() => {
      this.#timer = undefined
      this.#expire()
      this.#schedule()
    }, firstOf(this.#all).until - clock.now())
  }
}

function firstOf<Item>(items: ReadonlySet<Item>): Item {
  return items.values().next().value!
}
