import { printLine } from '../diagnostics/stderr.js'
import { after, systemClock } from '../runtime/clock.js'

/** Lines that do not get fewer for this time wait for a transport that does not go on. */
const patienceMs = 250
const turnMs = 5

/** A logger of winston, or a transport: a stream that keeps lines while somebody is busy. */
export interface HoldingStream {
  readonly readableLength?: number
  readonly writableLength?: number
  read?(): unknown
  uncork?(): void
}

/** The streams through which lines come to one transport. */
export interface LineHolder {
  readonly streams: readonly HoldingStream[]
}

/**
 * Lines that winston holds back: where one transport of a logger is busy, the lines of all its transports wait in the logger, and Sluice has not accepted them.
 * A drain waits for them. A process that ends cannot wait: it reads them out of the logger, which gives each one to all transports, once and in order.
 */
export class HeldLines {
  /** Weak: a logger that the application drops is not kept. */
  readonly #holders = new Set<WeakRef<LineHolder>>()
  readonly #gone = new FinalizationRegistry<WeakRef<LineHolder>>((holder) => this.#holders.delete(holder))

  watch(holder: LineHolder): void {
    const weak = new WeakRef(holder)
    this.#holders.add(weak)
    this.#gone.register(holder, weak)
  }

  /**
   * Wait for the held lines, for `timeoutMs` at most, and read those that do not get fewer by waiting. winston's File may lose lines that it gets faster than it
   * wants, if its logger ends then: so they are not read at once.
   */
  async arrive(timeoutMs: number): Promise<void> {
    let least = this.#count()
    let now = systemClock.now()
    const deadline = now + timeoutMs
    for (let fellAt = now; least > 0 && now < Math.min(deadline, fellAt + patienceMs); ) {
      await after(turnMs, true).over
      now = systemClock.now()
      const count = this.#count()
      if (count < least) fellAt = now
      least = Math.min(least, count)
    }
    this.take()
  }

  /** Read all held lines now. */
  take(): void {
    for (const stream of this.#streams) takeFrom(stream)
  }

  get #streams(): readonly HoldingStream[] {
    return [...this.#holders].flatMap((holder) => holder.deref()?.streams ?? [])
  }

  #count(): number {
    return this.#streams.reduce((sum, stream) => sum + heldBy(stream), 0)
  }
}

/** Read the lines that this stream holds now. A line whose format throws is lost for every transport, as in winston. */
function takeFrom(stream: HoldingStream): void {
  for (let left = heldBy(stream); left > 0; left--) {
    try {
      stream.uncork?.()
      if (stream.read === undefined || stream.read() === null) return
    } catch (error) {
      printLine(`a line that winston held back is lost, because a format or a transport threw: ${error}`)
    }
  }
}

function heldBy({ readableLength = 0, writableLength = 0 }: HoldingStream): number {
  return readableLength + writableLength
}
