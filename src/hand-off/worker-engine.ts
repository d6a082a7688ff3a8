import { type Ask, ControlBlock, timeFor } from '../control/control-block.js'
import { LedgerBook } from '../delivery/ledger-book.js'
import { Engine, parkingMs } from '../engine/engine.js'
import { type EngineSetting, lanesOf } from '../engine/engine-setting.js'
import { type Machine, thisMachine } from '../engine/machine.js'
import type { WorkerPosition } from '../engine/worker-position.js'
import type { ResolvedOptions } from '../options/options.js'
import { Secret } from '../options/secret.js'
import { PipeMemory } from '../pipe/pipe-memory.js'
import { PipeReader } from '../pipe/pipe-reader.js'
import type { LineStyle } from '../records/line-style.js'
import type { Timer } from '../runtime/clock.js'
import { EngineSink } from './frame-sink.js'
import { newsReporter } from './news.js'
import type { EnginePlan, WorkerMessage } from './protocol.js'

export interface WorkerEnginePlan {
  /** Its number. */
  readonly engine: number
  readonly plan: EnginePlan
  readonly position: WorkerPosition
  /** Posts a message to the application's side. */
  readonly post: (message: WorkerMessage) => void
  /** True when the thread takes no more records. */
  readonly isHalted: () => boolean
  /** Called when the engine is closed. */
  readonly closed: () => void
  /** @default this one */
  readonly machine?: Machine | undefined
}

/** Bytes that are taken in one turn of the event loop: with more of them, answers of the service would wait. */
const mostBytesInTurn = 32_768

/** One engine in the delivery worker: takes its records out of the pipe, and answers its drains. */
export class WorkerEngine {
  readonly #plan: WorkerEnginePlan
  readonly #machine: Machine
  readonly #options: ResolvedOptions
  readonly #book: LedgerBook
  readonly #drains: ControlBlock
  readonly #pipe: PipeMemory
  readonly #reader: PipeReader
  readonly #styles: LineStyle[]
  /** The last one takes the records. One without a spool is before it where the disk did not answer at first. */
  readonly #engines: Engine[] = []
  #sink: EngineSink | undefined
  /** Drains that have not begun, each with the timer of its deadline. */
  readonly #asks = new Map<Ask, Timer>()
  /** False before the start and from the close on: no record is taken then. */
  #isOpen = false
  #goesOn = false
  /** Until it looks again: nothing rings for what comes meanwhile. */
  #look: Timer | undefined
  readonly #stopProbing: () => void
  readonly #stops: readonly (() => void)[]

  constructor(plan: WorkerEnginePlan) {
    this.#plan = plan
    const { machine = thisMachine } = plan
    this.#machine = machine
    const { options, apiKey, memory, pipe, drains, styles, diskIsStalled } = plan.plan
    const { spoolDir } = options
    const key = new Secret(apiKey.text, apiKey.file)
    this.#options = { ...options, apiKey: key, onError: undefined, waitUntil: undefined }
    this.#book = new LedgerBook(lanesOf(this.#options), memory)
    this.#styles = styles.map((text) => JSON.parse(text))
    this.#drains = new ControlBlock(drains, machine)
    const frames = PipeMemory.open(pipe, machine.bell)!
    this.#pipe = frames
    this.#reader = new PipeReader(frames)
    const spool = diskIsStalled ? undefined : spoolDir
    this.#start(spool)
    const isLate = spool !== spoolDir && spoolDir !== undefined
    this.#stopProbing = isLate ? machine.whenDiskAnswers(spoolDir, () => this.#start(spoolDir)) : () => {}
    this.#stops = [
      frames.bells.bell.heard(() => this.#take()),
      this.#drains.whenAsked((ask) => {
        // The records that come before it may not come: the application may have given them up, or have no time to hand them over.
        const begin = () => this.#plan.isHalted() || this.#begin(ask)
        const leftMs = ask.until - machine.processNow()
        const lastMs = ask.mode === 'flush' ? 0 : parkingMs(leftMs, options)
        this.#asks.set(ask, machine.clock.schedule(begin, leftMs - lastMs))
        this.#take()
      }),
    ]
    this.#isOpen = true
    this.#take()
  }

  #start(spoolDir: string | undefined): void {
    const { engine, position, post, plan, isHalted } = this.#plan
    const setting: EngineSetting = {
      machine: this.#machine,
      memory: plan.memory,
      position: { worker: position, engine },
      reporter: (warn) => newsReporter({ clock: this.#machine.clock, post: (news) => post({ engine, news }), warn }),
    }
    const opened = new Engine({ ...this.#options, spoolDir }, setting)
    this.#engines.push(opened)
    this.#sink = new EngineSink({ engine: opened, book: this.#book, styles: this.#styles, isHalted })
  }

  /** Take records, and begin the drains whose records have come. */
  #take(): void {
    if (this.#sink === undefined || !this.#isOpen || this.#plan.isHalted()) return
    // At the end, what is in the pipe is lost, and what the engine has may go to the spool.
    const ends = [...this.#asks.keys()].some(({ mode }) => mode !== 'flush')
    const before = this.#pipe.get('read')
    const isEmpty = this.#reader.take(this.#sink, ends ? Number.POSITIVE_INFINITY : mostBytesInTurn)
    const { taken } = this.#book
    for (const ask of [...this.#asks.keys()]) if (ask.after <= taken) this.#begin(ask)
    if (isEmpty && this.#look === undefined) this.#lookLater({ hasFound: this.#pipe.get('read') !== before })
    if (isEmpty || this.#goesOn) return
    this.#goesOn = true
    this.#machine.clock.immediate(() => {
      this.#goesOn = false
      this.#take()
    })
  }

  /** The pipe is empty. More may come where there was something: look again, and send what that finds. Else rest until the bell rings. */
  #lookLater({ hasFound }: { readonly hasFound: boolean }): void {
    const { lingerMs, spoolDir } = this.#options
    // With a spool, records are on disk at the end of their turn.
    if (hasFound && lingerMs > 0 && spoolDir === undefined) {
      this.#reader.stay()
      const look = () => {
        this.#look = undefined
        this.#take()
        // They have waited in the pipe.
        this.#engines.at(-1)!.sendGathered()
      }
      this.#look = this.#machine.clock.schedule(look, lingerMs)
    } else if (!this.#reader.rest()) this.#take()
  }

  #begin(ask: Ask): void {
    this.#asks.get(ask)?.cancel()
    if (this.#asks.delete(ask)) void this.#drain(ask)
  }

  async #drain(ask: Ask): Promise<void> {
    const { number, mode } = ask
    const time = timeFor(ask, this.#machine.processNow())
    if (mode === 'close') {
      this.#isOpen = false
      this.#stopProbing()
    }
    await Promise.all(this.#engines.map((each) => each[mode](time)))
    if (mode !== 'close') this.#drains.answer(number)
    else {
      for (const stop of this.#stops) stop()
      for (const timer of [this.#look, ...this.#asks.values()]) timer?.cancel()
      this.#plan.closed()
      this.#drains.retire()
    }
  }
}
