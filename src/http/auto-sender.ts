import type { Carriage, OutgoingBatch, Sender } from '../delivery/sender.js'
import type { RecordKind } from '../records/wire.js'
import type { Timer } from '../runtime/clock.js'
import type { Breakage } from './connection-life.js'
import { type LaneSlots, laneSlots } from './connection-slots.js'
import { loadUndici } from './load-undici.js'
import { PipelinedSender } from './pipelined-sender.js'
import type { ReadAnswer } from './read-answer.js'
import type { SenderPlan } from './sender-plan.js'
import { type ServerTraits, UndiciSender } from './undici-sender.js'

export interface OpenSenderPlan extends SenderPlan {
  readonly pipelining: 'auto' | 'off'
  /** Most records in one batch. */
  readonly maxBatch: number
  /** With a proxy everything goes through it, by the undici sender. */
  readonly proxyUrl: string | undefined
  /** Called once at most, when pipelining ends for good. */
  readonly left: (reason: string) => void
}

/** The sender for a destination. */
export function openSender(plan: OpenSenderPlan): Sender {
  const alone = plan.pipelining === 'off' || plan.proxyUrl !== undefined
  return alone ? new UndiciSender(plan) : new AutoSender(plan)
}

const single: Carriage = { sender: 'pipelined', maxDepth: 1 }

/** Pipelining ends when connections break on this many occasions, with fewer than `answersToForgive` from each to the next. */
const occasionsToLeave = 3
const answersToForgive = 10_000
const loadAfterMs = 2000

/**
 * Chooses the sender for one destination. It pipelines, or it does not.
 *
 * At first it does not: the pipelined sender has one request in flight on each connection. Pipelining starts with a success in HTTP/1.1
 * on a connection that the server keeps. Value records are pipelined only while the server echoes `idempotency-key`, because then it
 * does not count a repeated value twice.
 *
 * Pipelining ends, and the undici sender takes over,
 * - when an answer is not understood;
 * - when a success is not HTTP/1.1. An error may be a balancer's: HAProxy wrote some as HTTP/1.0;
 * - when connections break on three occasions. A break counts when several requests were written together and one has no answer, and the
 *   server had not announced the end. Connections that were open at a break belong to its occasion: a server that restarts is one. While
 *   nothing is pipelined, every break counts.
 *
 * The end is for good, and its reason is reported, where the server had answered well before. Where it had not, pipelining may not be to
 * blame: after a success of the undici sender the pipelined one is tried again.
 *
 * Probes always go by the undici sender: another server than before may answer them. It is opened when it is first needed, because the
 * WebAssembly that undici reads answers with costs 125 to 175 ms of CPU and some 40 MB for a while (Node 20.20). Its files are read before
 * that, but not by a process that ends soon: when the service is down, the process may have no file descriptor left.
 */
class AutoSender implements Sender {
  readonly #plan: OpenSenderPlan
  readonly #slots: LaneSlots
  readonly #pipelined: PipelinedSender
  #undici: UndiciSender | undefined
  #pipelines = false
  #usesPipelined = true
  /** The server has answered well. Kept for the promise that pipelining ends for good, with a word, only where it may be to blame. */
  #works = false
  #echoes = false
  #occasions = 0
  #brokeAt = Number.NEGATIVE_INFINITY
  #answersSinceBreak = 0
  readonly #loading: Timer

  constructor(plan: OpenSenderPlan) {
    this.#plan = plan
    this.#loading = plan.loop.schedule(() => void loadUndici().catch(() => {}), loadAfterMs)
    this.#slots = laneSlots(plan.maxConnections, plan.loop)
    const watch = {
      saw: (answer: ReadAnswer, echoes: boolean) => this.#read(answer, echoes),
      answered: (count: number) => {
        this.#answersSinceBreak += count
      },
      misunderstood: (reason: string) => this.#leave(`an answer was not understood (${reason})`),
      broke: (breakage: Breakage) => this.#broke(breakage),
    }
    this.#pipelined = new PipelinedSender({ ...plan, slots: this.#slots, maxDepth: plan.maxBatch, watch })
  }

  carriage(kind: RecordKind): Carriage {
    if (!this.#usesPipelined) return this.#openUndici().carriage()
    const pipelines = this.#pipelines && (kind === 'logs' || this.#echoes)
    const carriage = pipelines ? this.#pipelined.carriage(kind) : single
    return this.#echoes ? { ...carriage, repeatable: true } : carriage
  }

  send(batch: OutgoingBatch): void {
    ;(this.#usesPipelined && !batch.probe ? this.#pipelined : this.#openUndici()).send(batch)
  }

  async close(): Promise<void> {
    this.#loading.cancel()
    await Promise.all([this.#undici?.close(), this.#pipelined.close()])
  }

  #openUndici(): UndiciSender {
    const saw = (traits: ServerTraits) => this.#saw(traits)
    this.#undici ??= new UndiciSender({ ...this.#plan, slots: this.#slots, saw })
    return this.#undici
  }

  /** Success of a request by the undici sender. */
  #saw({ plain, echoes }: ServerTraits): void {
    this.#echoes = echoes
    if (!plain || this.#usesPipelined || this.#works) return
    this.#works = true
    this.#usesPipelined = true
  }

  /** Answer to a request by the pipelined sender. */
  #read({ status, version, last }: ReadAnswer, echoes: boolean): void {
    if (status < 200 || status >= 300) return
    this.#echoes = echoes
    if (version !== '1.1') {
      if (this.#works) this.#leave(`the server answers with HTTP/${version}`)
    } else if (!last && this.#usesPipelined && !this.#pipelines) {
      this.#works = true
      this.#pipelines = true
      this.#occasions = 0
    }
  }

  #broke({ openedAt, requests, usual }: Breakage): void {
    if (!this.#usesPipelined || (this.#pipelines && (requests === 1 || usual))) return
    if (openedAt <= this.#brokeAt) return
    this.#brokeAt = this.#plan.loop.now()
    this.#occasions = this.#answersSinceBreak >= answersToForgive ? 1 : this.#occasions + 1
    this.#answersSinceBreak = 0
    if (this.#occasions >= occasionsToLeave) this.#leave('connections broke again and again with requests on them')
  }

  /** Connections that are still in use change nothing any more. */
  #leave(reason: string): void {
    if (!this.#usesPipelined) return
    this.#usesPipelined = false
    this.#pipelines = false
    this.#occasions = 0
    this.#brokeAt = this.#plan.loop.now()
    if (this.#works) this.#plan.left(reason)
  }
}
