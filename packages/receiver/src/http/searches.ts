import type { FastifyReply, FastifyRequest } from 'fastify'
import { refuse } from './envelope.js'
import { ownerOf } from './large-answers.js'

/** A search may take this long, in ms. */
const deadlineMs = 5000
/** Most searches of one key that wait. */
const maxWaiting = 20

/**
 * Runs questions that may take long: one at a time, the keys in turn. One key that asks much does not stop the others, and cheap questions find the
 * processors free. A search ends when its client has gone, and after 5 s.
 */
export class Searches {
  #isSearching = false
  /** What waits, by key. The key that has waited longest since its last turn is the first. */
  readonly #waiting = new Map<string, (() => void)[]>()

  /** Answers by `search`; with 429 where too many of the key wait, and with 503 after the deadline. */
  async answer<Found>(
    { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
    search: (signal: AbortSignal) => Promise<Found>,
  ): Promise<Found | FastifyReply> {
    const owner = ownerOf(request)
    if ((this.#waiting.get(owner)?.length ?? 0) >= maxWaiting)
      return refused(429, `${maxWaiting} searches of this key wait already`)
    const end = new AbortController()
    const gone = new Error('the client has gone')
    reply.raw.once('close', () => end.abort(gone))
    if (!(await this.#turn(owner, end.signal))) return refused(503, gone.message)
    const late = new Error(
      `the search took more than ${deadlineMs / 1000} s: narrow it, for example by since and until`,
    )
    const deadline = setTimeout(() => end.abort(late), deadlineMs)
    try {
      return await search(end.signal)
    } catch (error) {
      if (!end.signal.aborted) throw error
      return refused(503, end.signal.reason.message)
    } finally {
      clearTimeout(deadline)
      this.#isSearching = false
      this.#next()
    }

    function refused(status: 429 | 503, message: string): FastifyReply {
      return refuse(reply.header('retry-after', 1), { status, message })
    }
  }

  /** Resolves with true when a search of the key may begin, or with false when its client has gone before. */
  #turn(owner: string, gone: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const begin = () => resolve(true)
      this.#waiting.set(owner, [...(this.#waiting.get(owner) ?? []), begin])
      gone.addEventListener('abort', () => {
        this.#keep(
          owner,
          (this.#waiting.get(owner) ?? []).filter((each) => each !== begin),
        )
        resolve(false)
      })
      this.#next()
    })
  }

  #keep(owner: string, waiting: (() => void)[]): void {
    if (waiting.length === 0) this.#waiting.delete(owner)
    else this.#waiting.set(owner, waiting)
  }

  #next(): void {
    const [first] = this.#waiting
    if (this.#isSearching || first === undefined) return
    this.#isSearching = true
    const [owner, [begin, ...others]] = first
    this.#waiting.delete(owner)
    this.#keep(owner, others)
    begin!()
  }
}
