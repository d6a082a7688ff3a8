import type { RecordKind } from '../records/wire.js'
import type { Timer } from '../runtime/clock.js'
import type { Loop } from '../runtime/loop.js'
import { ConnectionAge, type ConnectionLife, type PipelineWatch } from './connection-life.js'
import { describeError } from './describe-error.js'
import { keptIdleMs } from './idle-times.js'
import { type AnswerRun, noRequests, type ReadAnswer } from './read-answer.js'
import { RequestWriter } from './request-writer.js'
import { ResponseReader } from './response-reader.js'
import type { BreakOff, Transmission } from './transmission.js'
import type { Wire, WireEnd } from './wire.js'

/** The owner of a connection. */
export interface ConnectionOwner {
  /** Called when it can carry the next batch. */
  free(connection: PipelinedConnection): void
  /** Called when it has ended. */
  lost(connection: PipelinedConnection): void
}

export interface PipelinedConnectionPlan {
  /** It is open. This connection owns it, and is told what happens to it. */
  readonly wire: Wire
  readonly loop: Loop
  readonly requestTimeoutMs: number
  readonly owner: ConnectionOwner
  readonly watch: PipelineWatch
  readonly kind: RecordKind
  readonly life: ConnectionLife
}

/** A connection without a batch for this long was idle. In a busy lane the next batch comes in the same turn of the event loop. */
const idleFromMs = 1
/** Time for the server to close a connection that has ended here. Until then the server counts it. */
const partingMs = 1000

/**
 * One connection on which requests are pipelined. It carries one batch at a time, written in one go, and reads the answers in their order.
 * The next batch is written when all of the one before is answered and has left the buffer of the socket: its requests stand in memory that
 * serves again. A connection that ends before takes the memory with it, because the system may still read it.
 *
 * The connection ends at bytes that are not understood, at an answer without a request or with the idempotency key of another one, when the
 * server hangs up, and after `requestTimeoutMs` without a whole answer. An unexpected answer makes the answers before it doubtful, unless
 * they have a key: records that have no outcome yet become ambiguous.
 */
export class PipelinedConnection {
  readonly #plan: PipelinedConnectionPlan
  readonly #openedAt: number
  readonly #reader = new ResponseReader()
  readonly #writer = new RequestWriter()
  /** It will be looked at whether it needs its memory. */
  #mayShrink = false
  #transmission: Transmission | undefined
  /** About the part that was written last: its requests, true when it has left the socket, and the answers before it. */
  #partSize = 0
  #flushed = true
  #servedBefore = 0
  /** True when the connection was idle before it. */
  #wasIdle = false
  #lastAnswer: ReadAnswer | undefined
  readonly #age: ConnectionAge
  /** True when the last answer announced the end of the connection. */
  #announced = false
  #ended = false
  /** Time of the clock at the last write or answer. */
  #progressAt = 0
  #timer: Timer | undefined
  #timerAt = 0
  /** Until it is closed, where the server gets time for that. */
  #parting: Timer | undefined

  constructor(plan: PipelinedConnectionPlan) {
    this.#plan = plan
    this.#openedAt = plan.loop.now()
    this.#progressAt = this.#openedAt
    this.#age = new ConnectionAge(plan.life)
  }

  /** Called by the wire, like the next three. */
  received(bytes: Buffer): void {
    this.#guarded(() => this.#read(bytes))
  }

  flushed(): void {
    this.#flushed = true
    this.#guarded(() => this.#goOn())
  }

  ended(): void {
    this.#end({ reason: 'the server closed the connection' })
  }

  closed({ error }: WireEnd): void {
    this.#parting?.cancel()
    this.#end({ reason: error === undefined ? 'the connection closed' : describeError(error) })
  }

  /** True when it has ended or is about to: the server takes no more requests on it, or may close it. */
  get stale(): boolean {
    const { life, kind, loop } = this.#plan
    return this.#ended || life.allowance(kind, this.#age) === 0 || loop.now() >= this.#dueAt
  }

  /** Time since the last answer. */
  get idleMs(): number {
    return this.#plan.loop.now() - this.#progressAt
  }

  carry(transmission: Transmission): void {
    this.#transmission = transmission
    this.#guarded(() => this.#write(transmission))
  }

  /** End it with its batch. */
  end(reason: string): void {
    this.#end({ reason }, { blameless: true, parts: true })
  }

  /** End it at once, without time for the server to close it. */
  destroy(reason: string): void {
    this.#end({ reason }, { blameless: true })
    this.#plan.wire.destroy()
  }

  #write(transmission: Transmission): void {
    const { wire, loop, requestTimeoutMs, kind, life } = this.#plan
    const most = life.allowance(kind, this.#age)
    if (most === 0) {
      this.#end({ reason: 'the server takes no more requests on this connection' }, { blameless: true, parts: true })
      return
    }
    const bytes = transmission.write(most, this.#writer)
    if (bytes === undefined) {
      this.#end({ reason: 'the key has characters that no header may have' }, { blameless: true, parts: true })
      return
    }
    this.#partSize = transmission.awaiting
    this.#servedBefore = this.#age.served
    this.#flushed = false
    const now = loop.now()
    this.#wasIdle = this.#age.served > 0 && now - this.#progressAt >= idleFromMs
    this.#progressAt = now
    this.#arm(this.#progressAt + requestTimeoutMs)
    wire.write(bytes)
  }

  #read(chunk: Buffer): void {
    if (this.#ended) return
    const reader = this.#reader
    const transmission = this.#transmission
    const before = this.#age.served
    reader.push(chunk)
    const requests = transmission ?? noRequests
    for (let run = reader.next(requests); run !== undefined; run = reader.next(requests)) {
      if (transmission === undefined || transmission.awaiting === 0) {
        this.#stray(run.answer)
        return
      }
      this.#take(run, transmission)
      if (this.#ended) return
    }
    if (this.#age.served > before) {
      const { life, watch, loop } = this.#plan
      this.#progressAt = loop.now()
      life.answered(this.#age.served - before)
      if (!this.#announced) life.goesOn(this.#age)
      watch.answered(this.#age.served - before)
    }
    if (reader.over) this.#readerOver()
    else if (reader.pending && (transmission === undefined || transmission.awaiting === 0)) {
      this.#stray(reader.end(requests)?.answer)
    } else {
      transmission?.settleHeld()
      this.#goOn()
    }
  }

  #take(run: AnswerRun, transmission: Transmission): void {
    const { answer, count, key } = run
    if (key === 'wrong') {
      this.#misunderstood('it is that to another request', { doubtful: true })
      return
    }
    if (answer !== this.#lastAnswer) {
      this.#lastAnswer = answer
      this.#announced = answer.closes
      this.#age.read(answer.keepAliveMax)
      this.#plan.watch.saw(answer, key === 'right')
    }
    this.#age.served += count
    transmission.take(run)
  }

  /** Servers may close an idle connection with a 408. Any other answer without a request is unexpected. */
  #stray(answer: ReadAnswer | undefined): void {
    const reason = `${answer === undefined ? 'bytes' : 'an answer'} came without a request`
    const goodbye = answer?.status === 408 && answer.closes
    const begun = answer === undefined && this.#transmission === undefined
    if (goodbye || begun) this.#end({ reason }, { blameless: true })
    else this.#misunderstood(reason, { doubtful: true })
  }

  #readerOver(): void {
    const { failure } = this.#reader
    if (failure === undefined) this.#end({ reason: 'the server closes the connection' }, { parts: true })
    else this.#misunderstood(failure)
  }

  /** With `doubtful`, earlier answers may belong to other requests. */
  #misunderstood(failure: string, { doubtful = false } = {}): void {
    const reason = `the answer is not understood: ${failure}`
    if (doubtful) this.#transmission?.doubt(reason)
    this.#plan.watch.misunderstood(failure, this.#transmission?.batch.probe ?? false)
    this.#end({ reason }, { blameless: true })
  }

  /** Write the next part, or free the connection, when all that was written is answered and gone. */
  #goOn(): void {
    const transmission = this.#transmission
    if (this.#ended || transmission === undefined || transmission.awaiting > 0 || !this.#flushed) return
    if (!transmission.finished) {
      this.#write(transmission)
      return
    }
    this.#transmission = undefined
    this.#progressAt = this.#plan.loop.now()
    this.#arm(this.#dueAt)
    this.#plan.owner.free(this)
    transmission.done()
    if (this.#writer.isLarge && !this.#mayShrink) {
      this.#mayShrink = true
      // The next batch of a busy lane comes before.
      this.#plan.loop.immediate(this.#shrink)
    }
  }

  readonly #shrink = (): void => {
    this.#mayShrink = false
    if (this.#transmission === undefined) this.#writer.forget()
  }

  /**
   * `blameless`: the end says nothing about the server's support for pipelining. `parts`: the server notices the end or has announced it,
   * and gets time to close the connection, too.
   */
  #end(how: BreakOff, { blameless = false, parts = false }: { blameless?: boolean; parts?: boolean } = {}): void {
    if (this.#ended) return
    this.#ended = true
    this.#timer?.cancel()
    if (parts) this.#part()
    else this.#plan.wire.destroy()
    const transmission = this.#transmission
    const cutOff = this.#reader.end(transmission ?? noRequests)
    if (cutOff !== undefined && transmission !== undefined && transmission.awaiting > 0) {
      this.#take(cutOff, transmission)
    }
    this.#transmission = undefined
    if (this.#announced) this.#plan.life.closed(this.#age)
    this.#plan.owner.lost(this)
    if (transmission === undefined) return
    if (transmission.awaiting > 0 && this.#partSize > 1 && !this.#announced && !blameless) {
      const isUsual = this.#age.served === this.#servedBefore && (how.timedOut === true || this.#wasIdle)
      if (!isUsual) this.#plan.watch.broke(this.#openedAt)
    }
    transmission.breakOff(how)
  }

  #part(): void {
    const { wire, loop } = this.#plan
    this.#parting = loop.schedule(() => wire.destroy(), partingMs)
    wire.end()
  }

  /** Time of the clock at which it ends: without an answer, or idle. */
  get #dueAt(): number {
    if (this.#transmission !== undefined) return this.#progressAt + this.#plan.requestTimeoutMs
    return this.#progressAt + keptIdleMs(this.#lastAnswer?.keepAliveMs)
  }

  /** There is one timer. It fires early, so that it need not be set for each batch. */
  #arm(at: number): void {
    const { loop } = this.#plan
    if (this.#timer !== undefined && this.#timerAt <= at) return
    this.#timer?.cancel()
    this.#timerAt = at
    this.#timer = loop.schedule(() => this.#look(), at - loop.now())
  }

  #look(): void {
    this.#timer = undefined
    const dueAt = this.#dueAt
    if (dueAt > this.#plan.loop.now()) this.#arm(dueAt)
    else if (this.#transmission === undefined) this.end('idle')
    else {
      // One turn of the event loop later, so that an answer counts that came while the loop was blocked.
      const progressAt = this.#progressAt
      this.#plan.loop.immediate(() => this.#expire(progressAt))
    }
  }

  #expire(progressAt: number): void {
    if (this.#ended) return
    if (this.#progressAt !== progressAt) this.#arm(this.#dueAt)
    else this.#end({ reason: `no answer within ${this.#plan.requestTimeoutMs} ms`, timedOut: true }, { parts: true })
  }

  /** An error that is thrown in an event of a wire would end the application. */
  #guarded(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#end({ reason: describeError(error) }, { blameless: true })
    }
  }
}
