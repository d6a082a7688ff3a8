import type { Carriage, OutgoingBatch, Sender } from '../delivery/sender.js'
import type { RecordKind } from '../records/wire.js'
import { type LaneSlots, laneSlots } from './connection-slots.js'
import type { ExitLoop } from './exit-loop.js'
import { PipelinedSender, type PipelinedSenderPlan } from './pipelined-sender.js'
import type { ReadAnswer } from './read-answer.js'
import type { SenderPlan } from './sender-plan.js'
import { UndiciSender } from './undici-sender.js'

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
  return alone ? new UndiciSender(plan) : new AutoSender({ ...plan, usesUndici: true })
}

export interface ExitSenderPlan extends Omit<OpenSenderPlan, 'slots' | 'loop' | 'pipelining' | 'left'> {
  readonly loop: ExitLoop
  /** What the sender before it knows of the service. Where that one is undici's, nothing is pipelined. */
  readonly former: (kind: RecordKind) => Carriage
  /** An answer is not understood, and no other sender can take over. Without a reason: an answer has been understood since. */
  readonly misread: (reason?: string) => void
}

/** The sender for the end of a process. Undici needs the loop of Node, so that everything goes by the pipelined sender, through a proxy, too. */
export function openExitSender({ former, proxyUrl, ...plan }: ExitSenderPlan): Sender {
  const { url, loop, requestTimeoutMs: connectTimeoutMs, connection: { ca } = {} } = plan
  const { sender, maxDepth, repeatable } = former('logs')
  return new AutoSender({
    ...plan,
    mode: sender === 'undici' ? 'single' : maxDepth > 1 ? 'pipelined' : 'trial',
    echoes: repeatable === true,
    dial: loop.connect({ url, proxyUrl, connectTimeoutMs, ...(ca !== undefined && { ca }) }),
    proxyUrl: new URL(url).protocol === 'http:' ? proxyUrl : undefined,
    usesUndici: false,
    // Its process ends: nobody can use the news.
    left() {},
  })
}

type Mode = 'trial' | 'pipelined' | 'single' | 'undici'

interface AutoSenderPlan
  extends Omit<OpenSenderPlan, 'pipelining'>,
    Pick<PipelinedSenderPlan, 'dial'>,
    Partial<Pick<ExitSenderPlan, 'misread'>> {
  /** @default trial */
  readonly mode?: Mode
  /** The server echoes idempotency keys. @default false */
  readonly echoes?: boolean
  readonly usesUndici: boolean
}

const single: Carriage = { sender: 'pipelined', maxDepth: 1 }

/** Pipelining ends when connections break on this many occasions, with fewer than `answersToForgive` from each to the next. */
const occasionsToLeave = 3
const answersToForgive = 10_000

/**
 * Chooses how the records go out to one destination.
 *
 * - `trial`, at first: by the pipelined sender, one request at a time on each connection. A success in HTTP/1.1 on a connection that the server
 *   keeps leads to `pipelined`.
 * - `pipelined`: several at a time. Of value records only while the server echoes `idempotency-key`, because then it does not count a
 *   repeated value twice.
 * - `single`: as in the trial, for good. A success that is not HTTP/1.1 leads here: its server may not know of pipelining. An error may be a
 *   balancer's: HAProxy wrote some as HTTP/1.0. Breaks on three occasions lead here, too. A break counts when several requests were written
 *   together and one has no answer, and the server had not announced the end. Connections that were open at a break belong to its occasion: a
 *   server that restarts is one.
 * - `undici`: by the undici sender, for good, because an answer was not understood. While the service is tested, the first such answer
 *   since the last success leads nowhere: it may be that of a balancer, in place of the service. At the end of a process, `single` instead.
 *
 * The end of pipelining is reported, with its reason. Undici is loaded only when it is needed, because that and the WebAssembly that it reads
 * answers with cost 125 to 175 ms of CPU and some 40 MB for a while (Node 20.20).
 */
class AutoSender implements Sender {
  readonly #plan: AutoSenderPlan
  readonly #slots: LaneSlots
  readonly #pipelined: PipelinedSender
  #undici: UndiciSender | undefined
  #mode: Mode
  #echoes: boolean
  /** An answer to a probe was not understood, and nothing has succeeded since. */
  #forgave = false
  #occasions = 0
  #brokeAt = Number.NEGATIVE_INFINITY
  #answersSinceBreak = 0

  constructor({ mode = 'trial', echoes = false, ...plan }: AutoSenderPlan) {
    this.#plan = plan
    this.#mode = mode
    this.#echoes = echoes
    this.#slots = laneSlots(plan.maxConnections, plan.loop)
    const watch = {
      saw: (answer: ReadAnswer, echoes: boolean) => this.#saw(answer, echoes),
      answered: (count: number) => {
        this.#answersSinceBreak += count
      },
      misunderstood: (reason: string, probe: boolean) => this.#misunderstood(reason, probe),
      broke: (openedAt: number) => this.#broke(openedAt),
    }
    this.#pipelined = new PipelinedSender({ ...plan, slots: this.#slots, maxDepth: plan.maxBatch, watch })
  }

  carriage(kind: RecordKind): Carriage {
    if (this.#undici !== undefined) return this.#undici.carriage()
    const pipelines = this.#mode === 'pipelined' && (kind === 'logs' || this.#echoes)
    const carriage = pipelines ? this.#pipelined.carriage(kind) : single
    return this.#echoes ? { ...carriage, repeatable: true } : carriage
  }

  send(batch: OutgoingBatch): void {
    const sender = this.#undici ?? this.#pipelined
    sender.send(batch)
  }

  async close(): Promise<void> {
    await Promise.all([this.#undici?.close(), this.#pipelined.close()])
  }

  #saw({ status, version, last }: ReadAnswer, echoes: boolean): void {
    if (status < 200 || status >= 300) return
    this.#echoes = echoes
    this.#forgave = false
    this.#plan.misread?.()
    if (version !== '1.1') this.#leave('single', `the server answers with HTTP/${version}`)
    else if (!last && this.#mode === 'trial') this.#mode = 'pipelined'
  }

  #misunderstood(reason: string, probe: boolean): void {
    this.#plan.misread?.(reason)
    if (probe && !this.#forgave) this.#forgave = true
    else this.#leave(this.#plan.usesUndici ? 'undici' : 'single', `an answer was not understood (${reason})`)
  }

  #broke(openedAt: number): void {
    if (openedAt <= this.#brokeAt) return
    this.#brokeAt = this.#plan.loop.now()
    this.#occasions = this.#answersSinceBreak >= answersToForgive ? 1 : this.#occasions + 1
    this.#answersSinceBreak = 0
    if (this.#occasions >= occasionsToLeave) {
      this.#leave('single', 'connections broke again and again with requests on them')
    }
  }

  #leave(mode: 'single' | 'undici', reason: string): void {
    if (this.#mode === 'pipelined') this.#plan.left(reason)
    // In its trial a server that is behind a balancer may still show better.
    else if (mode === 'single') return
    this.#mode = mode
    if (mode === 'undici') this.#undici ??= new UndiciSender({ ...this.#plan, slots: this.#slots })
  }
}
