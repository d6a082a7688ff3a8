import { randomUUID } from 'node:crypto'
import { BroadcastChannel, isMainThread, receiveMessageOnPort, threadId } from 'node:worker_threads'
import { systemClock } from '../delivery/clock.js'
import { type LaneName, type LaneReport, type Ledger, LedgerBook, sumLedger } from '../delivery/ledger.js'
import type { Engine } from './engine.js'
import { ThreadStreams } from './thread-streams.js'

/** What every engine can do for the process, whichever thread and whichever copy of this package it lives in. */
type LocalEngine = Pick<Engine, 'id' | 'lanes' | 'memory' | 'stats' | 'flush' | 'close' | 'closed'>

interface RemoteEngine {
  readonly threadId: number
  readonly book: LedgerBook
}

type DrainMode = 'flush' | 'close'

/** What threads of one process say to each other. */
type Message =
  | { readonly type: 'who' }
  | {
      readonly type: 'engine'
      readonly id: string
      readonly threadId: number
      readonly lanes: readonly LaneName[]
      readonly memory: SharedArrayBuffer
    }
  | {
      readonly type: 'drain'
      readonly mode: DrainMode
      readonly id: string
      readonly request: string
      readonly timeoutMs: number
    }
  | { readonly type: 'drained'; readonly request: string }

/**
 * Every engine of the process, as one thread sees it: its own directly, those of other threads (pino's workers) through a
 * BroadcastChannel and the shared memory of their ledgers.
 *
 *     this thread                      pino's worker
 *     flush() ── drain ──────────────▶ engine.flush()
 *             ◀───────────── drained ─
 *     stats() ◀── shared memory ────── ledger
 */
export class ProcessEngines {
  readonly #local = new Map<string, LocalEngine>()
  readonly #remote = new Map<string, RemoteEngine>()
  readonly #waiting = new Map<string, () => void>()
  readonly #threadStreams = isMainThread ? new ThreadStreams() : undefined
  readonly #channel = new BroadcastChannel('sluice.v1')
  /** Lanes of engines that are closed and gone, added up by name. */
  readonly #past = new Map<string, LaneReport>()
  #pastInvalid = 0

  constructor() {
    this.#channel.onmessage = (event) => this.#receive((event as { data: Message }).data)
    ;(this.#channel as unknown as { unref(): void }).unref()
    this.#post({ type: 'who' })
  }

  /** Engines of this thread. */
  get local(): Iterable<LocalEngine> {
    return this.#local.values()
  }

  add(engine: LocalEngine): void {
    this.#local.set(engine.id, engine)
    this.#announce(engine)
  }

  /** Keep the figures of an engine that is closed, and let go of the engine. */
  retire(engine: LocalEngine): void {
    if (!this.#local.delete(engine.id)) return
    const { lanes, invalid } = engine.stats()
    this.#pastInvalid += invalid
    for (const lane of lanes) {
      const name = `${lane.kind}/${lane.bucket}`
      const before = this.#past.get(name)
      this.#past.set(
        name,
        before === undefined ? lane : { ...lane, ...sumLedger([before, lane], 0), ...nameAndState(lane) },
      )
    }
  }

  /** The ledger of the whole process, now. */
  stats(): Ledger {
    this.#catchUp()
    const ledgers = [...this.#local.values()].map((engine) => engine.stats())
    for (const { book } of this.#remote.values()) ledgers.push(book.read())
    const lanes = ledgers.flatMap((ledger) => ledger.lanes)
    const invalid = ledgers.reduce((sum, ledger) => sum + ledger.invalid, this.#pastInvalid)
    return sumLedger([...this.#past.values(), ...lanes], invalid)
  }

  /**
   * Drain every engine of the process. Rounds go on until the hand-off to pino's workers is empty and the accepted count stands
   * still, so that what was logged before the call is in. Resolves at the deadline at the latest; never rejects.
   */
  async drain(mode: DrainMode, timeoutMs: number): Promise<Ledger> {
    const clock = systemClock
    const deadline = clock.now() + timeoutMs
    const left = () => Math.max(0, deadline - clock.now())
    let expired = false
    let expire = () => {}
    const atDeadline = new Promise<void>((resolve) => {
      expire = resolve
    })
    const timer = clock.schedule(
      () => {
        expired = true
        expire()
      },
      timeoutMs,
      true,
    )
    const within = (work: Promise<unknown>) => Promise.race([work, atDeadline])

    // Node announces a worker in the tick after its start.
    await new Promise((resolve) => setImmediate(resolve))
    let accepted: number
    do {
      accepted = this.stats().accepted
      await within(this.#threadStreams?.handedOver((thread) => this.#runsSluice(thread)) ?? Promise.resolve())
      await within(this.#drainAll('flush', left()))
    } while (!expired && this.stats().accepted !== accepted)
    if (mode === 'close') await within(this.#drainAll('close', left()))
    timer.cancel()
    return this.stats()
  }

  async #drainAll(mode: DrainMode, timeoutMs: number): Promise<void> {
    const local = [...this.#local.values()].map((engine) => engine[mode]({ timeoutMs }))
    const remote = [...this.#remote].map(([id, engine]) => this.#drainRemote(mode, { id, engine, timeoutMs }))
    await Promise.all([...local, ...remote])
  }

  #drainRemote(mode: DrainMode, { id, engine, timeoutMs }: { id: string; engine: RemoteEngine; timeoutMs: number }) {
    if (this.#threadStreams?.ended(engine.threadId)) return Promise.resolve()
    return new Promise<void>((resolve) => {
      const request = randomUUID()
      this.#waiting.set(request, resolve)
      this.#post({ type: 'drain', mode, id, request, timeoutMs })
      // A worker that ended without an answer must not hold us until the deadline.
      this.#threadStreams?.onceEnded(engine.threadId, () => this.#answered(request))
    })
  }

  #runsSluice(thread: number): boolean {
    this.#catchUp()
    for (const engine of this.#remote.values()) if (engine.threadId === thread) return true
    return false
  }

  #announce({ id, lanes, memory }: LocalEngine): void {
    this.#post({ type: 'engine', id, threadId, lanes, memory })
  }

  #post(message: Message): void {
    this.#channel.postMessage(message)
  }

  /** Take what other threads have said so far, without waiting for the event loop. */
  #catchUp(): void {
    for (;;) {
      const received = receiveMessageOnPort(this.#channel as unknown as Parameters<typeof receiveMessageOnPort>[0])
      if (received === undefined) return
      this.#receive(received.message as Message)
    }
  }

  #receive(message: Message): void {
    switch (message.type) {
      case 'who':
        for (const engine of this.#local.values()) this.#announce(engine)
        return
      case 'engine':
        this.#remote.set(message.id, {
          threadId: message.threadId,
          book: new LedgerBook(message.lanes, message.memory),
        })
        return
      case 'drain': {
        const { id, mode, request, timeoutMs } = message
        const engine = this.#local.get(id)
        void engine?.[mode]({ timeoutMs }).then(() => this.#post({ type: 'drained', request }))
        return
      }
      case 'drained':
        this.#answered(message.request)
    }
  }

  #answered(request: string): void {
    this.#waiting.get(request)?.()
    this.#waiting.delete(request)
  }
}

function nameAndState({ kind, bucket, state, connections, depth, lastError }: LaneReport) {
  return { kind, bucket, state, connections, depth, lastError }
}

const stateKey = Symbol.for('sluice.process.v1')

/** The one registry of this thread, whichever copy of the package comes first. */
export function processEngines(): ProcessEngines {
  const shared = globalThis as { [stateKey]?: ProcessEngines }
  shared[stateKey] ??= new ProcessEngines()
  return shared[stateKey]
}
