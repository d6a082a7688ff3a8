import { printLine } from '../diagnostics/stderr.js'
import { reasonOf } from '../errors/text-of.js'
import { type Clock, systemClock, type Timer } from '../runtime/clock.js'
import { firstInProcess } from '../runtime/shared-state.js'
import { announceThread, type DeliveryThread, type EngineClient, effectOf } from './delivery-thread.js'
import { ModeMachine } from './mode-machine.js'
import { type Link, type WorkerFailure, WorkerLink, type WorkerLinkPlan } from './worker-link.js'

export interface SupervisorPlan {
  readonly clock: Clock
  /** Start a worker. @throws where none can be started */
  readonly start: (plan: WorkerLinkPlan) => Link
  /** Writes one line for people. */
  readonly print: (text: string) => void
}

/** The supervisor backs off after this many failures in this time. */
const maxFailures = 2
const failureWindowMs = 60_000
/** The first pause, and the longest. Each is twice as long as the one before, until a worker has lived for the time above. */
const firstPauseMs = 1000
const longestPauseMs = 60_000

/**
 * - `idle`: no engine needs a worker.
 * - `running`: there is a worker.
 * - `replacing`: the worker has failed and is being terminated.
 * - `backoff`: too many workers have failed. A timer starts the next one.
 * - `impossible`: no worker can be started in this process. Engines deliver in the application's thread.
 */
type Mode = 'idle' | 'running' | 'replacing' | 'backoff' | 'impossible'

const nextModes: Readonly<Record<Mode, readonly Mode[]>> = {
  idle: ['running', 'impossible'],
  running: ['replacing', 'impossible', 'idle'],
  replacing: ['running', 'backoff', 'impossible', 'idle'],
  backoff: ['running', 'impossible', 'idle'],
  impossible: [],
}

/**
 * Keeps one delivery worker running for all engines of the process. It replaces a worker that dies or does not answer. The line at which
 * that worker stopped is dropped: the application's thread never does the worker's work.
 *
 *     idle ── first engine ──▶ running ── failure ──▶ replacing ── 2 in a minute ──▶ backoff
 *                                 ▲                       │                             │
 *                                 ├────── at once ────────┘                             │
 *                                 └────── timer, drain or end of the process ───────────┘
 *
 *     every mode but `impossible` ── the last engine leaves ──▶ idle
 *     every mode ── no worker can be started ──▶ impossible
 */
export class Supervisor implements DeliveryThread {
  readonly #plan: SupervisorPlan
  readonly #clients = new Map<number, EngineClient>()
  /** Engines whose worker ends and may have news. */
  readonly #leaving = new Map<number, EngineClient>()
  readonly #stalledFolders = new Set<string>()
  /** Workers that waited for a disk when they were terminated. */
  readonly #stalled = new Set<Link>()
  readonly #mode = new ModeMachine('idle', nextModes)
  #link: Link | undefined
  #lastNumber = 0
  #failedAt: number[] = []
  #pauses = 0
  /** Ends the mode `backoff`. */
  #timer: Timer | undefined
  /** A worker has taken lines. A later one that fails at its start may fail because of a line. */
  #hasRun = false
  #replacedAtEnd = false
  /** In the mode `replacing`: why the worker is replaced, and for which engine it used the disk when it stopped. */
  #failure: { readonly reason: string; readonly atDiskOf: number | undefined } | undefined

  constructor(plan: SupervisorPlan) {
    this.#plan = plan
  }

  /** Start a worker, if there is none. False where that is impossible. The first refusal prints the reason. */
  available(): boolean {
    if (this.#mode.now === 'idle') this.#start()
    return this.#mode.now !== 'impossible'
  }

  join(client: EngineClient): number {
    this.#clients.set(++this.#lastNumber, client)
    return this.#lastNumber
  }

  connect(engine: number): void {
    const mode = this.#mode.now
    if (mode === 'running') this.#introduce(engine)
    else if (mode === 'idle') this.#start()
    else if (mode === 'impossible') this.#clients.get(engine)?.cannotStart()
  }

  watch(): void {
    this.#link?.watch()
  }

  hurry(): void {
    if (this.#mode.now !== 'backoff') return
    // An application that flushes again and again starts at most one worker a second.
    const pausedMs = this.#plan.clock.now() - this.#failedAt.at(-1)!
    if (pausedMs >= firstPauseMs) this.#start()
    else this.#startIn(firstPauseMs - pausedMs)
  }

  startsSync(withinMs: number): boolean {
    return this.#mode.now === 'running' && this.#link?.startsSync(withinMs) === true
  }

  answersSync(withinMs: number): boolean {
    return this.#mode.now === 'running' && this.#link?.answersSync(withinMs) === true
  }

  reachSync(withinMs: number): boolean {
    const link = this.#link
    const deadline = this.#plan.clock.now() + withinMs
    if (this.#mode.now === 'running' && link !== undefined) {
      if (this.answersSync(withinMs)) return true
      if (this.#replacedAtEnd || this.#plan.clock.now() >= deadline) return false
      this.#replacedAtEnd = true
      this.#fail(link, 'it does not answer at the end of the process')
    }
    if (this.#mode.now === 'replacing') {
      // A termination that is under way needs the event loop, which has stopped.
      link?.terminateSync()
      this.#replace({ atOnce: true })
    }
    if (this.#mode.now === 'backoff') this.#start()
    return this.answersSync(deadline - this.#plan.clock.now())
  }

  catchUp(): void {
    this.#link?.catchUp()
  }

  async leave(engine: number): Promise<void> {
    const link = this.#link
    const client = this.#clients.get(engine)
    const { spoolDir } = client?.options ?? {}
    if (link?.atDiskOf === engine && spoolDir !== undefined) this.#stalledFolders.add(spoolDir)
    this.#clients.delete(engine)
    if (this.#clients.size > 0) return
    this.#link = undefined
    this.#enter('idle')
    if (link === undefined) return
    // A disk that does not answer may be the reason why the engines were closed.
    this.#stalled.add(link)
    if (client !== undefined) this.#leaving.set(engine, client)
    await link.terminate()
    this.#leaving.delete(engine)
    if (!link.outlivesItsEnd) this.#stalled.delete(link)
  }

  /** True while a thread waits for a disk. Until the disk answers, only SIGKILL, or a signal without listeners, ends the process. */
  get keepsProcess(): boolean {
    if (this.#link?.atDiskOf !== undefined) return true
    return [...this.#stalled].some(({ outlivesItsEnd }) => outlivesItsEnd)
  }

  /** The only way from one mode to another. No effect in the mode `impossible`. */
  #enter(mode: Mode): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#mode.enter(mode)
  }

  #start(): void {
    try {
      const link: Link = this.#plan.start({
        received: (message) => {
          const client = this.#clients.get(message.engine) ?? this.#leaving.get(message.engine)
          client?.received(message)
        },
        failed: (failure) => this.#failed(link, failure),
        busy: () => [...this.#clients.values()].some(({ busy }) => busy),
        taking: () =>
          [...this.#clients.values(), ...this.#leaving.values()].find(({ taking }) => taking !== undefined)?.taking,
      })
      this.#link = link
      this.#enter('running')
    } catch (error) {
      this.#cannotStart(reasonOf(error))
      return
    }
    for (const engine of this.#clients.keys()) this.#introduce(engine)
  }

  #startIn(delayMs: number): void {
    this.#timer?.cancel()
    this.#timer = this.#plan.clock.schedule(() => this.#start(), delayMs)
  }

  #introduce(engine: number): void {
    const client = this.#clients.get(engine)
    if (client === undefined) return
    const { spoolDir } = client.options
    const diskIsStalled = spoolDir !== undefined && this.#stalledFolders.has(spoolDir)
    this.#link?.open(engine, client.plan({ diskIsStalled }))
    client.attached()
  }

  #cannotStart(reason: string): void {
    this.#enter('impossible')
    this.#link = undefined
    if (firstInProcess('inline')) {
      this.#plan.print(`the delivery worker cannot be started (${reason}); delivering in the application’s thread`)
    }
    for (const client of this.#clients.values()) client.cannotStart()
  }

  #failed(link: Link, { reason, cannotStart }: WorkerFailure): void {
    if (link !== this.#link || this.#mode.now !== 'running') return
    if (cannotStart && !this.#hasRun) {
      this.#cannotStart(reason)
      return
    }
    this.#hasRun = true
    this.#fail(link, reason)
    // The worker counts records until its thread is gone.
    void link.terminate().then(() => {
      if (this.#link === link) this.#replace({ atOnce: false })
    })
  }

  #fail(link: Link, reason: string): void {
    this.#enter('replacing')
    this.#failure = { reason, atDiskOf: link.atDiskOf }
    for (const client of this.#clients.values()) client.detached()
  }

  /** The worker is gone. Count the records that it had taken, and start the next one, at once or later. */
  #replace({ atOnce }: { atOnce: boolean }): void {
    const { reason, atDiskOf } = this.#failure!
    const atDisk = atDiskOf !== undefined
    if (atDisk) this.#stalled.add(this.#link!)
    this.#link = undefined
    const sum = { lost: 0, spooled: 0, unreadable: 0 }
    for (const [engine, client] of this.#clients) {
      const { spoolDir } = client.options
      if (atDiskOf === engine && spoolDir !== undefined) this.#stalledFolders.add(spoolDir)
      const { lost, spooled, unreadable } = client.workerFailed({ reason })
      sum.lost += lost
      sum.spooled += spooled
      sum.unreadable += unreadable
    }
    const pauseMs = atOnce ? 0 : this.#nextPause()
    const start = pauseMs === 0 ? 'starting it again' : `starting it again in ${pauseMs / 1000} s`
    this.#plan.print(`the delivery worker has failed (${reason})${effectOf(sum, { atDisk })}; ${start}`)
    if (pauseMs === 0) this.#start()
    else {
      this.#enter('backoff')
      this.#startIn(pauseMs)
    }
  }

  #nextPause(): number {
    const now = this.#plan.clock.now()
    const last = this.#failedAt.at(-1)
    if (last !== undefined && now - last >= failureWindowMs + this.#pauseMs) this.#pauses = 0
    this.#failedAt = [...this.#failedAt.filter((at) => now - at < failureWindowMs), now]
    if (this.#pauses === 0 && this.#failedAt.length < maxFailures) return 0
    this.#pauses++
    return this.#pauseMs
  }

  /** The last pause. Without meaning before the first. */
  get #pauseMs(): number {
    return Math.min(longestPauseMs, firstPauseMs * 2 ** (this.#pauses - 1))
  }
}

let own: Supervisor | undefined

/** The supervisor of this thread. */
export function deliveryThread(): Supervisor {
  if (own === undefined) {
    own = new Supervisor({ clock: systemClock, start: (plan) => new WorkerLink(plan), print: printLine })
    announceThread(own)
  }
  return own
}
