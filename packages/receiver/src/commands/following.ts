import { describeError } from '../../../../src/http/describe-error.js'
import { pause } from '../../../../src/http/requester.js'
import type { RecordKind } from '../../../../src/records/wire.js'
import { type Clock, systemClock } from '../../../../src/runtime/clock.js'
import { isStored } from '../client/record-page.js'
import type { ReadingService, Stored } from './reading-service.js'
import { type ServerSentEvent, serverSentEvents } from './server-sent-events.js'

export interface FollowingPlan<Kind extends RecordKind> {
  readonly service: ReadingService<Kind>
  readonly kind: Kind
  /** Ends it. */
  readonly signal: AbortSignal
  /** Prints a message about the stream. */
  readonly say: (text: string) => void
  /** Reads the records from before the stream, oldest first. */
  readonly earlier: () => Promise<readonly Stored<Kind>[]>
  /** Reads the records with an id after this, oldest first, page by page. */
  readonly missed: (after: number) => AsyncIterable<readonly Stored<Kind>[]>
  readonly clock?: Clock
}

/** The time between two attempts at a stream. */
const retryMs = 1000
/** The receiver sends a comment every 15 s. A stream that is silent for longer has lost its connection. */
const maxSilenceMs = 45_000

/**
 * Follows the records of a bucket: those from before, then those that arrive, each once. It comes back after a lost connection and a
 * restart of the receiver, and resumes where it was.
 */
export class Following<Kind extends RecordKind> {
  readonly #plan: FollowingPlan<Kind>
  readonly #clock: Clock
  #cursor: string | undefined
  /** The largest id that is known. */
  #newest = 0
  #isLost = false
  /** Records that were read, and that the stream may give, too. */
  #shown = new Set<number>()

  constructor(plan: FollowingPlan<Kind>) {
    this.#plan = plan
    this.#clock = plan.clock ?? systemClock
  }

  /**
   * Records in the order in which they arrived. Ends with the signal.
   *
   * @throws {ApiError} where the receiver refuses
   * @throws {NoReceiverError} where the service is not the receiver
   */
  async *records(): AsyncGenerator<readonly Stored<Kind>[]> {
    const { service, signal, say } = this.#plan
    this.#newest = await service.newestId()
    while (!signal.aborted) {
      const silence = new AbortController()
      let reason = 'the stream has ended'
      try {
        const { status, body } = await service.live({
          after: this.#cursor,
          signal: AbortSignal.any([signal, silence.signal]),
        })
        if (status === 200 && body !== null) {
          for await (const event of serverSentEvents(this.#heard(body, silence))) yield* this.#take(event)
        } else {
          reason = `status ${status}`
          await body?.cancel()
        }
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof Error) || !isOfStream(error)) throw error
        reason = describeError(error instanceof StreamError ? error : error.cause)
      }
      if (signal.aborted) return
      if (!this.#isLost) say(`the connection is lost (${reason}); it tries again every second`)
      this.#isLost = true
      await pause(this.#clock, { ms: retryMs, signal }).catch(() => {})
      // An answer other than a stream has its reason here, such as a wrong key.
      if (reason.startsWith('status 4')) await service.newestId()
    }
  }

  /** The pieces of a stream, until it is silent for too long. */
  async *#heard(body: AsyncIterable<Uint8Array>, silence: AbortController): AsyncGenerator<Uint8Array> {
    const wait = () => this.#clock.schedule(() => silence.abort(new StreamError('silence')), maxSilenceMs)
    let timer = wait()
    try {
      for await (const piece of body) {
        timer.cancel()
        yield piece
        timer = wait()
      }
    } finally {
      timer.cancel()
    }
  }

  async *#take({ event, id, data }: ServerSentEvent): AsyncGenerator<readonly Stored<Kind>[]> {
    const { kind } = this.#plan
    const content: unknown = parsed(data)
    if (event === 'hello') yield* this.#greet((content as { resumed?: unknown }).resumed === true)
    if (event === 'missed' && Number((content as Partial<Record<RecordKind, unknown>>)[kind]) > 0)
      yield* this.#catchUp()
    if (event === kind && Array.isArray(content)) {
      const records = (content as Stored<Kind>[]).filter(
        (record) => isStored(record, kind) && !this.#shown.delete(record.id),
      )
      for (const record of records) this.#newest = Math.max(this.#newest, record.id)
      if (records.length > 0) yield records
    }
    this.#cursor = id ?? this.#cursor
  }

  async *#greet(resumed: boolean): AsyncGenerator<readonly Stored<Kind>[]> {
    const { service, say, earlier } = this.#plan
    if (this.#isLost) {
      say(resumed ? 'connected again' : 'connected again; the receiver has other data now')
      if (!resumed) this.#newest = await service.newestId()
    }
    this.#isLost = false
    if (resumed) return
    const records = await earlier()
    this.#shown = new Set(records.map(({ id }) => id))
    yield records
  }

  /** The records that came faster than this reader has read. */
  async *#catchUp(): AsyncGenerator<readonly Stored<Kind>[]> {
    for await (const found of this.#plan.missed(this.#newest)) {
      const records = found.filter(({ id }) => !this.#shown.has(id))
      for (const { id } of records) {
        this.#shown.add(id)
        this.#newest = Math.max(this.#newest, id)
      }
      yield records
    }
  }
}

/** The stream is of no use any more, and another one may be. */
class StreamError extends Error {}

/** `fetch` and the bodies of its answers throw a TypeError with a cause. */
function isOfStream(error: Error): boolean {
  return error instanceof StreamError || (error instanceof TypeError && error.cause !== undefined)
}

function parsed(data: string): object {
  try {
    const content: unknown = JSON.parse(data)
    if (typeof content === 'object' && content !== null) return content
  } catch {}
  throw new StreamError('an event that is no JSON')
}
