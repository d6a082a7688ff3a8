import { printLine } from '../diagnostics/stderr.js'
import type { Standstill } from '../engine/worker-position.js'
import { textOf } from '../errors/text-of.js'
import { type Clock, systemClock, type Timer } from '../runtime/clock.js'
import { firstInProcess } from '../runtime/shared-state.js'
import type { DeliveryThread, EngineClient } from './delivery-thread.js'
import { type Link, type WorkerFailure, WorkerLink, type WorkerLinkPlan } from './worker-link.js'

export interface SupervisorPlan {
  readonly clock: Clock
  /** Start a worker. @throws where none can be started */
  readonly start: (plan: WorkerLinkPlan) => Link
  /** Writes one line for people. */
  readonly print: (text: string) => void
}

/** So many failures within this time, and the next worker is not started at once. */
const maxFailures = 2
const failureWindowMs = 60_000
/** The first rest, and the longest; each is twice as long as the one before, until a worker has lived for the time above. */
const firstRestMs = 1000
const longestRestMs = 60_000
/** The end of the process waits so long for a worker that is starting, where its time allows no more. */
const startPatienceMs = 3000

/**
 * `none`: nobody needs a worker. `running`: there is one. `replacing`: it has failed and is being ended. `resting`: too many have failed,
 * the next one is started later. `impossible`: none can be started in this process, engines deliver in the application's thread.
 */
type Mode = 'none' | 'running' | 'replacing' | 'resting' | 'impossible'

/**
 * Keeps one delivery worker running for all engines of the process. A worker that dies or does not answer is replaced, and the line at
 * which it stood is given up; the application's thread never does its work instead.
 */
export class Supervisor implements DeliveryThread {
  readonly #plan: SupervisorPlan
  readonly #clients = new Map<number, EngineClient>()
  readonly #stalledFolders = new Set<string>()
  /** Workers that waited for a disk when they were ended. */
  readonly #stalled = new Set<Link>()
  #mode: Mode = 'none'
  #link: Link | undefined
  #lastNumber = 0
  #failedAt: number[] = []
  #rests = 0
  #rest: Timer | undefined
  /** A worker has taken lines: what ends the next ones may be in a line. */
  #hasRun = false
  #replacedAtEnd = false
  /** Where the worker that is being ended stood, and why it is. */
  #failure: { readonly reason: string; readonly standstill: Standstill | undefined } | undefined

  constructor(plan: SupervisorPlan) {
    this.#plan = plan
  }

  /** Start a worker, if there is none; false where that is impossible, which is told once. */
  available(): boolean {
    if (this.#mode === 'none') this.#start()
    return this.#mode !== 'impossible'
  }

  join(client: EngineClient): number {
    this.#clients.set(++this.#lastNumber, client)
    return this.#lastNumber
  }

  connect(engine: number): void {
    if (this.#mode === 'running') this.#introduce(engine)
    else if (this.#mode === 'none') this.#start()
    else if (this.#mode === 'impossible') this.#clients.get(engine)?.cannotStart()
  }

  write(engine: number, lines: Buffer): void {
    this.#link?.write(engine, lines)
  }

  hurry(): void {
    if (this.#mode !== 'resting') return
    const { clock } = this.#plan
    const restedMs = clock.now() - this.#failedAt.at(-1)!
    this.#rest?.cancel()
    // An application that flushes again and again must not start workers without end.
    if (restedMs >= firstRestMs) this.#start()
    else this.#rest = clock.schedule(() => this.#start(), firstRestMs - restedMs)
  }

  handOverSync(): boolean {
    const link = this.#link
    if (this.#mode !== 'running' || link === undefined) return false
    return link.answersSync(startPatienceMs) && link.flushSync()
  }

  reachSync(timeoutMs: number): boolean {
    const link = this.#link
    if (this.#mode === 'running' && link !== undefined) {
      if (link.answersSync(Math.max(timeoutMs, startPatienceMs)) && link.flushSync()) return true
      if (this.#replacedAtEnd) return false
      this.#replacedAtEnd = true
      this.#fail(link, 'it does not answer at the end of the process')
      link.terminateSync()
    }
    if (this.#mode === 'replacing') this.#settle({ startAt: 'once' })
    if (this.#mode === 'resting') this.#start()
    return this.handOverSync()
  }

  async leave(engine: number): Promise<void> {
    this.#clients.delete(engine)
    if (this.#clients.size > 0) return
    this.#rest?.cancel()
    const link = this.#link
    this.#link = undefined
    if (this.#mode !== 'impossible') this.#mode = 'none'
    if (link === undefined) return
    // The engines may have been closed because the disk does not answer.
    this.#stalled.add(link)
    await link.terminate()
    if (!link.outlivesItsEnd) this.#stalled.delete(link)
  }

  /**
   * True while a thread waits for a disk: the process cannot end before it has what it waits for, except by SIGKILL, or by a signal that
   * nobody listens to.
   */
  get keepsProcess(): boolean {
    if (this.#link?.standstill?.at === 'disk') return true
    return [...this.#stalled].some(({ outlivesItsEnd }) => outlivesItsEnd)
  }

  #start(): void {
    this.#rest?.cancel()
    this.#rest = undefined
    try {
      const link: Link = this.#plan.start({
        received: (message) => this.#clients.get(message.engine)?.received(message),
        failed: (failure) => this.#failed(link, failure),
        busy: () => [...this.#clients.values()].some(({ unsettled }) => unsettled),
      })
      this.#link = link
      this.#mode = 'running'
    } catch (error) {
      this.#cannotStart(error instanceof Error ? error.message : textOf(error))
      return
    }
    for (const engine of this.#clients.keys()) this.#introduce(engine)
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
    this.#mode = 'impossible'
    this.#link = undefined
    if (firstInProcess('inline')) {
      this.#plan.print(`the delivery worker cannot be started (${reason}); delivering in the application’s thread`)
    }
    for (const client of this.#clients.values()) client.cannotStart()
  }

  #failed(link: Link, { reason, cannotStart }: WorkerFailure): void {
    if (link !== this.#link || this.#mode !== 'running') return
    if (cannotStart && !this.#hasRun) {
      this.#cannotStart(reason)
      return
    }
    this.#hasRun = true
    this.#fail(link, reason)
    // Until its thread is gone it may go on counting.
    void link.terminate().then(() => {
      if (this.#link === link && this.#mode === 'replacing') this.#settle({ startAt: 'now or later' })
    })
  }

  #fail(link: Link, reason: string): void {
    this.#mode = 'replacing'
    this.#failure = { reason, standstill: link.standstill }
    for (const client of this.#clients.values()) client.detached()
  }

  /** The worker is gone: count what went with it, and start the next one, at once or after a rest. */
  #settle({ startAt }: { startAt: 'once' | 'now or later' }): void {
    const { reason, standstill } = this.#failure!
    if (standstill?.at === 'disk') this.#stalled.add(this.#link!)
    this.#link = undefined
    const held = { lost: 0, spooled: 0 }
    for (const [engine, client] of this.#clients) {
      const at = standstill?.engine === engine ? standstill.at : undefined
      const { spoolDir } = client.options
      if (at === 'disk' && spoolDir !== undefined) this.#stalledFolders.add(spoolDir)
      const { lost, spooled } = client.workerFailed({ reason, at })
      held.lost += lost
      held.spooled += spooled
    }
    const restMs = startAt === 'once' ? 0 : this.#nextRest()
    const plan = restMs === 0 ? 'starting it again' : `starting it again in ${restMs / 1000} s`
    this.#plan.print(`the delivery worker has failed (${reason})${fateOf(held, standstill)}; ${plan}`)
    if (restMs === 0) this.#start()
    else {
      this.#mode = 'resting'
      this.#rest = this.#plan.clock.schedule(() => this.#start(), restMs)
    }
  }

  #nextRest(): number {
    const now = this.#plan.clock.now()
    const last = this.#failedAt.at(-1)
    if (last !== undefined && now - last >= failureWindowMs + this.#restMs) this.#rests = 0
    this.#failedAt = [...this.#failedAt.filter((at) => now - at < failureWindowMs), now]
    if (this.#rests === 0 && this.#failedAt.length < maxFailures) return 0
    this.#rests++
    return this.#restMs
  }

  get #restMs(): number {
    return this.#rests === 0 ? 0 : Math.min(longestRestMs, firstRestMs * 2 ** (this.#rests - 1))
  }
}

function fateOf({ lost, spooled }: { lost: number; spooled: number }, standstill: Standstill | undefined): string {
  const words = [
    lost > 0 ? `${recordsTaken(lost)} are lost` : '',
    spooled > 0 ? `${recordsTaken(spooled)} are left to the spool` : '',
    standstill?.at === 'line' ? 'the line at which it stopped is given up' : '',
    standstill?.at === 'disk' ? 'it waited for the disk of the spool, which is left alone until it answers' : '',
  ]
  return words.map((each) => (each === '' ? '' : `; ${each}`)).join('')
}

function recordsTaken(count: number): string {
  return `${count} record${count === 1 ? '' : 's'} that it had taken`
}

let own: Supervisor | undefined

/** The one of this thread. */
export function deliveryThread(): Supervisor {
  own ??= new Supervisor({ clock: systemClock, start: startLink, print: printLine })
  return own
}

function startLink(plan: WorkerLinkPlan): Link {
  if (!WorkerLink.possible) throw new Error('its file is missing; bundled?')
  return new WorkerLink(plan)
}
