import { ownText } from '../records/plain-fields.js'
import type { Clock, Timer } from '../runtime/clock.js'

/** A line that is kept in case an error comes. */
export interface KeptLine {
  /** Bytes of its record. */
  readonly bytes: number
}

/** A line in two lists: of all lines, and of those of its id. Both are in the order of arrival. */
interface Kept<Line> {
  readonly ofId: LinesOfId<Line>
  readonly line: Line
  /** On the clock. */
  readonly until: number
  before: Kept<Line> | undefined
  after: Kept<Line> | undefined
  nextOfId: Kept<Line> | undefined
}

interface LinesOfId<Line> {
  readonly id: string
  count: number
  oldest: Kept<Line> | undefined
  newest: Kept<Line> | undefined
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
  /** The first to arrive, and so to go. */
  #oldest: Kept<Line> | undefined
  #newest: Kept<Line> | undefined
  readonly #byId = new Map<string, LinesOfId<Line>>()
  #bytes = 0
  #timer: Timer | undefined

  constructor(plan: KeptForErrorPlan<Line>) {
    this.#plan = plan
  }

  keep(id: string, line: Line): void {
    const { lines, maxBytes } = this.#plan
    const ofId = this.#byId.get(id) ?? this.#newId(id)
    this.#add(ofId, line)
    if (ofId.count > lines) this.#giveUpOldest(ofId)
    while (this.#bytes > maxBytes) this.#giveUpOldest(this.#oldest!.ofId)
    this.#schedule()
  }

  /** The lines of an id, in the order of their arrival. They are kept no more. */
  take(id: string): Line[] {
    this.#expire()
    const taken: Line[] = []
    for (const ofId = this.#byId.get(id); ofId?.oldest !== undefined; ) taken.push(this.#removeOldest(ofId))
    return taken
  }

  /** Give up all lines. */
  end(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    while (this.#oldest !== undefined) this.#giveUpOldest(this.#oldest.ofId)
  }

  #newId(id: string): LinesOfId<Line> {
    // The id may be a part of a long line.
    const ofId = { id: ownText(id), count: 0, oldest: undefined, newest: undefined }
    this.#byId.set(ofId.id, ofId)
    return ofId
  }

  #add(ofId: LinesOfId<Line>, line: Line): void {
    const { clock, windowMs } = this.#plan
    const before = this.#newest
    const kept = { ofId, line, until: clock.now() + windowMs, before, after: undefined, nextOfId: undefined }
    if (before === undefined) this.#oldest = kept
    else before.after = kept
    this.#newest = kept
    if (ofId.newest === undefined) ofId.oldest = kept
    else ofId.newest.nextOfId = kept
    ofId.newest = kept
    ofId.count++
    this.#bytes += line.bytes
  }

  #giveUpOldest(ofId: LinesOfId<Line>): void {
    this.#plan.unneeded(this.#removeOldest(ofId))
  }

  /** The oldest line of all is the oldest of its id, too. */
  #removeOldest(ofId: LinesOfId<Line>): Line {
    const { line, before, after, nextOfId } = ofId.oldest!
    if (before === undefined) this.#oldest = after
    else before.after = after
    if (after === undefined) this.#newest = before
    else after.before = before
    ofId.oldest = nextOfId
    ofId.count--
    if (nextOfId === undefined) this.#byId.delete(ofId.id)
    this.#bytes -= line.bytes
    return line
  }

  #expire(): void {
    const now = this.#plan.clock.now()
    while (this.#oldest !== undefined && this.#oldest.until <= now) this.#giveUpOldest(this.#oldest.ofId)
  }

  /** One timer for all lines, at the end of the oldest one. */
  #schedule(): void {
    if (this.#timer !== undefined || this.#oldest === undefined) return
    const { clock } = this.#plan
    this.#timer = clock.schedule(() => {
      this.#timer = undefined
      this.#expire()
      this.#schedule()
    }, this.#oldest.until - clock.now())
  }
}
