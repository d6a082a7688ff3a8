import type { ServerResponse } from 'node:http'
import type { Position, RecordKind, RecordStorage } from '../storage/record-storage.js'
import { cursorOf } from './cursor.js'

const kinds = ['logs', 'values'] as const satisfies readonly RecordKind[]
/** Most records in one event. */
const maxRecords = 500
/** A reader with more bytes waiting at its socket gets nothing more. */
const maxWaitingBytes = 1_048_576
/** Events of one kind in one turn: a reader that is behind catches up. */
const maxRounds = 4
/** A reader that has been behind for this time, in ms, goes on with the newest record. */
const maxBehindMs = 10_000

/** The store as a live reader uses it. */
export type LiveRecords = Pick<RecordStorage, 'missed' | 'arrivals'>

/** One stream of events: `hello`, then records in the order in which they arrived. */
export class LiveReader {
  readonly #response: ServerResponse
  readonly #bucket: string
  #position: Position
  #isSkipping = false
  /** When the first of the turns began that have all left records for the next one. */
  #behindSince: number | undefined

  constructor({
    response,
    bucket,
    position,
  }: {
    readonly response: ServerResponse
    readonly bucket: string
    readonly position: Position
  }) {
    this.#response = response
    this.#bucket = bucket
    this.#position = position
  }

  greet(hello: { readonly resumed: boolean; readonly startedAt: string }): void {
    this.#send('hello', JSON.stringify(hello))
  }

  /** Keeps proxies from ending a quiet stream. */
  comment(): void {
    if (!this.#isFull()) this.#write(': still here\n\n')
  }

  /** Sends what has arrived. Returns true if there is more to send. */
  async advance(records: LiveRecords): Promise<boolean> {
    if (this.#isFull()) {
      this.#isSkipping = true
      return false
    }
    if (this.#isSkipping) await this.#skip(records)
    this.#behindSince ??= performance.now()
    const hasMore = await this.#tell(records)
    if (!hasMore) this.#behindSince = undefined
    else if (performance.now() - this.#behindSince > maxBehindMs) this.#isSkipping = true
    return hasMore
  }

  async #tell(records: LiveRecords): Promise<boolean> {
    for (let round = 0; round < maxRounds; round++) {
      let hasMore = false
      for (const kind of kinds) {
        const query = { kind, bucket: this.#bucket, after: this.#position[kind], limit: maxRecords }
        const { count, json, last, hasMore: hasMoreOfKind } = await records.arrivals(query)
        this.#position = { ...this.#position, [kind]: last }
        if (count > 0) this.#send(kind, json)
        hasMore ||= hasMoreOfKind
      }
      if (!hasMore) return false
      if (this.#isFull()) break
    }
    return true
  }

  /** Ends the stream. */
  end(): void {
    this.#response.end()
  }

  async #skip(records: LiveRecords): Promise<void> {
    this.#isSkipping = false
    this.#behindSince = undefined
    const { counts, position } = await records.missed({ bucket: this.#bucket, since: this.#position })
    this.#position = position
    if (counts.logs + counts.values > 0) this.#send('missed', JSON.stringify(counts))
  }

  #isFull(): boolean {
    return this.#response.writableLength > maxWaitingBytes
  }

  /** Each event carries the position after it, so that a reader resumes between any two events. */
  #send(event: string, data: string): void {
    this.#write(`event: ${event}\nid: ${cursorOf(this.#position)}\ndata: ${data}\n\n`)
  }

  #write(text: string): void {
    if (!this.#response.writableEnded && !this.#response.destroyed) this.#response.write(text)
  }
}
