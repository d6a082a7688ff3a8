import type { Clock, Timer } from '../runtime/clock.js'
import type { EngineDelivery } from './engine-delivery.js'
import type { Line } from './ports.js'

const mostChars = 65_536

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
  #chars = 0
  #timer: Timer | undefined

  constructor(plan: GatheredLinesPlan) {
    this.#plan = plan
  }

  /** Keep a line that every option lets through. False where it has to be read now. */
  keep(text: string, line: Line): boolean {
    const { clock, delivery, lane } = this.#plan
    const until = delivery.gathersUntil(lane)
    this.#chars += text.length
    if (until === undefined || line.below !== undefined || this.#chars > mostChars) return false
    if (!delivery.keepUnread(lane, text.length)) return false
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
    this.#timer?.cancel()
    this.#timer = undefined
    this.#chars = 0
    const lines = this.#lines
    this.#lines = []
    const { delivery, lane, read } = this.#plan
    for (const { text, line: about } of lines) {
      delivery.reads(lane, text.length)
      read(text, about)
    }
  }
}
