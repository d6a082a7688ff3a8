import type { Clock, Timer } from '../runtime/clock.js'
import type { EngineDelivery } from './engine-delivery.js'
import type { Line } from './ports.js'

/** More do not wait: a lane that gathers sends at as many. */
const mostBytes = 65_536
/** A record has more than its line: the names of the application and its machine. */
const besidesLine = 512

interface GatheredLinesPlan {
  readonly clock: Clock
  readonly delivery: EngineDelivery
  /** Index of the lane of the lines. */
  readonly lane: number
  /** Read a line that is counted already. */
  readonly read: (text: string, line: Line) => void
}

/**
 * Lines as they came, which are read when their lane sends what it gathers: to read many in a row takes a fraction of the time that it takes to
 * read each as it comes. They count as queued.
 */
export class GatheredLines {
  readonly #plan: GatheredLinesPlan
  #lines: { readonly text: string; readonly line: Line }[] = []
  #bytes = 0
  #timer: Timer | undefined

  constructor(plan: GatheredLinesPlan) {
    this.#plan = plan
  }

  /** Keep a line that every option lets through. False where it has to be read now, after {@link readAll}. */
  keep(text: string, line: Line): boolean {
    const { clock, delivery, lane } = this.#plan
    const until = delivery.gathersUntil(lane)
    if (until === undefined || typeof line.below === 'function') return false
    const bytes = Buffer.byteLength(text) + besidesLine
    if (this.#bytes + bytes > mostBytes || !delivery.keepUnread(lane, bytes)) return false
    this.#bytes += bytes
    this.#lines.push({ text, line })
    this.#timer ??= clock.schedule(this.#send, until - clock.now())
    return true
  }

  readonly #send = (): void => {
    this.readAll()
    this.#plan.delivery.sendGathered()
  }

  /** Read the lines that wait. */
  readAll(): void {
    const { delivery, lane, read } = this.#plan
    const lines = this.#lines
    if (lines.length === 0) return
    this.#timer?.cancel()
    this.#timer = undefined
    delivery.reads(lane, lines.length, this.#bytes)
    this.#bytes = 0
    this.#lines = []
    for (const { text, line } of lines) read(text, line)
  }
}
