import { randomUUID } from 'node:crypto'
import { isMainThread } from 'node:worker_threads'
import type { Ledger } from '../delivery/ledger.js'
import { LedgerBook } from '../delivery/ledger-book.js'
import type { EndStep } from '../engine/ports.js'
import { WorkerPosition } from '../engine/worker-position.js'
import { type DrainMode, drainGraceMs } from '../hand-off/drain-requests.js'
import { systemClock } from '../runtime/clock.js'
import { leftOfEnd } from '../runtime/end-clock.js'
import type { Figures } from './retired-engines.js'
import type { ThreadChannel, ThreadMessage } from './thread-channel.js'

/** What is known here of an engine of another thread. */
export interface RemoteEngine extends Figures {
  readonly id: string
  readonly threadId: number
  readonly shutdownTimeoutMs: number
  readonly debug: boolean
  readonly spools: boolean
  /** The ledger when its thread is gone. */
  readonly ended: () => Ledger
  /** True while its thread waits for the disk of the spool. */
  readonly isAtDisk: () => boolean
}

/** The engines of other threads: asked to drain through a channel, and read by the shared memory of their ledgers. */
export class RemoteEngines {
  readonly #channel: () => ThreadChannel
  readonly #engines = new Map<string, RemoteEngine>()
  /** Requests that are unanswered. */
  readonly #waiting = new Map<string, { readonly id: string; readonly resolve: () => void }>()
  /** Of the last parking: records that had been accepted by then, and when their time is over, on the clock. */
  readonly #parkings = new WeakMap<RemoteEngine, { readonly accepted: number; readonly until: number }>()

  /** @param channel read when it is needed, for it brings what makes the first engine known */
  constructor(channel: () => ThreadChannel) {
    this.#channel = channel
  }

  /** Those that are known by now. */
  get known(): readonly RemoteEngine[] {
    this.#channel().catchUp()
    return [...this.#engines.values()]
  }

  ofThread(thread: number): readonly RemoteEngine[] {
    return this.known.filter(({ threadId }) => threadId === thread)
  }

  add({ id, lanes, memory, position, ...facts }: ThreadMessage & { type: 'engine' }): void {
    if (this.#engines.has(id)) return
    const book = new LedgerBook(lanes, memory)
    const place = position === undefined ? undefined : new WorkerPosition(position)
    const isAtDisk = () => place?.standstill?.at === 'disk' && place.threadLives
    const { threadId, shutdownTimeoutMs, debug, spools } = facts
    const ended = () => book.ended({ spools })
    this.#engines.set(id, { id, threadId, shutdownTimeoutMs, debug, spools, isAtDisk, ended, stats: () => book.read() })
  }

  /** An engine is gone: wait for no answer of it. What was known of it. */
  remove(id: string): RemoteEngine | undefined {
    const engine = this.#engines.get(id)
    this.#engines.delete(id)
    for (const [request, waiting] of this.#waiting) {
      if (waiting.id !== id) continue
      waiting.resolve()
      this.#waiting.delete(request)
    }
    return engine
  }

  answered(request: string): void {
    this.#waiting.get(request)?.resolve()
    this.#waiting.delete(request)
  }

  async drain(mode: DrainMode, { engines, timeoutMs }: { engines: readonly RemoteEngine[]; timeoutMs?: number }) {
    const drained = engines.map((engine) => {
      return new Promise<void>((resolve) => {
        const request = this.#ask(mode, { engine, timeoutMs: timeoutMs ?? leftOfEnd(engine.shutdownTimeoutMs) })
        this.#waiting.set(request, { id: engine.id, resolve })
      })
    })
    await Promise.all(drained)
  }

  /** Whether there are records that have not had their time to be delivered before the end. */
  get pending(): boolean {
    return this.#pending().length > 0
  }

  /**
   * Deliver before the streams of these threads end, all at the same time, each engine within its own deadline: what has had that
   * time gets none again when its stream ends.
   */
  async park(): Promise<void> {
    const engines = this.#pending()
    const longestMs = Math.max(...engines.map(({ shutdownTimeoutMs }) => leftOfEnd(shutdownTimeoutMs)))
    for (const engine of engines) this.#noteParking(engine)
    await new Promise<void>((resolve) => {
      // Nothing else keeps the process alive.
      const timer = systemClock.schedule(resolve, longestMs + drainGraceMs.park + answerMs, true)
      void this.drain('park', { engines }).then(() => {
        timer.cancel()
        resolve()
      })
    })
  }

  /** The same without waiting for it, at an exit, where pino ends one stream after another. */
  beginParking(): void {
    for (const engine of this.#pending()) {
      this.#noteParking(engine)
      this.#ask('park', { engine, timeoutMs: leftOfEnd(engine.shutdownTimeoutMs) })
    }
  }

  /** Close engines while this thread is held, step by step, each within what is left of its time. */
  closeSync(engines: readonly RemoteEngine[]): EndStep[] {
    const nobody = new Int32Array(new SharedArrayBuffer(4))
    return engines.map((engine) => {
      const timeoutMs = this.#timeLeft(engine)
      const deadline = systemClock.now() + timeoutMs
      this.#ask('close', { engine, timeoutMs })
      return (waitMs) => {
        if (undelivered(engine.stats()) === 0 || systemClock.now() >= deadline) return true
        Atomics.wait(nobody, 0, 0, Math.min(waitMs, pollMs))
        return false
      }
    })
  }

  #pending(): readonly RemoteEngine[] {
    if (!isMainThread) return []
    return this.known.filter((engine) => {
      const ledger = engine.stats()
      return undelivered(ledger) > 0 && this.#parkings.get(engine)?.accepted !== ledger.accepted
    })
  }

  #noteParking(engine: RemoteEngine): void {
    const until = systemClock.now() + leftOfEnd(engine.shutdownTimeoutMs)
    this.#parkings.set(engine, { accepted: engine.stats().accepted, until })
  }

  #timeLeft(engine: RemoteEngine): number {
    const { accepted, until } = this.#parkings.get(engine) ?? {}
    if (until === undefined || accepted !== engine.stats().accepted) return leftOfEnd(engine.shutdownTimeoutMs)
    return Math.max(0, until - systemClock.now())
  }

  #ask(mode: DrainMode, { engine, timeoutMs }: { engine: RemoteEngine; timeoutMs: number }): string {
    const request = randomUUID()
    this.#channel().post({ type: 'drain', mode, id: engine.id, request, timeoutMs })
    return request
  }
}

/** How often the ledger of another thread is looked at, at the end. */
const pollMs = 5
/** What an answer may take from another thread. */
export const answerMs = 20

/** Records that are still to be settled. */
export function undelivered({ queued, inFlight }: Pick<Ledger, 'queued' | 'inFlight'>): number {
  return queued + inFlight
}
