import { type Asked, ControlBlock, type ControlPorts, type DrainMode, timeFor } from '../control/control-block.js'
import type { FlushTime } from '../delivery/plan.js'
import type { Engine } from '../engine/engine.js'
import type { EndStep } from '../engine/ports.js'
import { drainGraceMs, endGraceOf } from './drain-times.js'

/** Of the sixteen drains that may be open in a block. */
const mostFlushes = 12

/** The drains that a hand-off asks its engine for, whichever thread that is in. Each is over by its deadline, whatever the engine does. */
export class EngineDrains {
  readonly memory = ControlBlock.memory()
  readonly #ports: ControlPorts
  readonly #block: ControlBlock
  readonly #open = new Set<number>()
  /** Flushes that wait for their turn: a block has few slots. */
  readonly #waiting: (() => void)[] = []
  #flushes = 0
  #isOver = false
  #stop = () => {}
  /** The drain that closes the engine. There is one. */
  #close: number | undefined

  constructor(ports: ControlPorts) {
    this.#ports = ports
    this.#block = new ControlBlock(this.memory, ports)
  }

  /** True while somebody waits for an answer, which only the event loop brings. */
  get areOpen(): boolean {
    return this.#open.size > 0
  }

  /** @param after records that the engine must have taken before */
  async ask(mode: DrainMode, { timeoutMs, holdsProcess = true, brief }: FlushTime, after: number): Promise<void> {
    const until = this.#ports.processNow() + timeoutMs
    const giveUpAt = until + drainGraceMs(mode, timeoutMs)
    const isFlush = mode === 'flush'
    if (isFlush) {
      // A flush that ends leaves its turn to one that waits: another one may come in between.
      if (this.#flushes < mostFlushes) this.#flushes++
      else if (!(await this.#turn(giveUpAt, holdsProcess))) return
    }
    if (this.#isOver) return
    const drain = this.#ask(mode, { until, brief, after })
    this.#open.add(drain)
    await this.#block.whenAnswered(drain, giveUpAt, holdsProcess)
    this.#open.delete(drain)
    if (!isFlush) return
    const next = this.#waiting.shift()
    if (next === undefined) this.#flushes--
    else next()
  }

  /** At the end of the process: close the engine while this thread is blocked. */
  closeSync({ timeoutMs, brief }: FlushTime, after: number): EndStep {
    const { processNow } = this.#ports
    const until = processNow() + timeoutMs
    const giveUpAt = until + endGraceOf(timeoutMs)
    const drain = this.#ask('close', { until, brief, after })
    return (waitMs) => {
      const left = giveUpAt - processNow()
      return this.#block.waitAnswered(drain, Math.min(waitMs, left)) || processNow() >= giveUpAt
    }
  }

  /** Nobody waits any more. A worker that other engines keep still finds the close, where it has not answered that. */
  settle(): void {
    this.#isOver = true
    this.#stop()
    for (const drain of this.#open) this.#block.answer(drain)
    for (const begin of this.#waiting.splice(0)) begin()
  }

  /** The engine is in this thread from now on: it makes the drains that are open, or wait for their turn. Later ones need no number. */
  makeIn(engine: Engine): void {
    const { processNow } = this.#ports
    this.#stop = this.#block.whenAsked((ask) => {
      void engine[ask.mode](timeFor(ask, processNow())).then(() => this.#block.answer(ask.number))
    })
  }

  /** Resolves when a flush has ended before: with false if this one is to be given up meanwhile. */
  #turn(giveUpAt: number, holdsProcess: boolean): Promise<boolean> {
    return new Promise((resolve) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1)
        resolve(false)
      }
      const timer = this.#ports.clock.schedule(leave, giveUpAt - this.#ports.processNow(), holdsProcess)
      const begin = () => {
        timer.cancel()
        resolve(true)
      }
      this.#waiting.push(begin)
    })
  }

  #ask(mode: DrainMode, how: Omit<Asked, 'mode'>): number {
    // A worker that has closed the engine hears no other drain.
    if (mode === 'close' && this.#close !== undefined) return this.#close
    const drain = this.#block.ask({ mode, ...how })
    if (mode === 'close') this.#close = drain
    return drain
  }
}
