import type { ServerResponse } from 'node:http'
import { say } from '../stderr.js'
import type { Arrivals, ArrivalsQuery, Position, RecordStorage } from '../storage/record-storage.js'
import { LiveReader, type LiveRecords } from './live-reader.js'

/** Most readers at once. */
const maxReaders = 20
/** Shortest time between two turns. */
const turnMs = 100
const commentMs = 15_000

/**
 * Tells live readers what arrives. After a commit, a turn reads the new records and sends them. A turn begins at most every 100 ms. Without
 * readers the feed does not listen to commits.
 */
export class LiveFeed {
  readonly #records: RecordStorage
  readonly #readers = new Set<LiveReader>()
  #isClosed = false
  #stopListening: (() => void) | undefined
  #comments: NodeJS.Timeout | undefined
  #others: NodeJS.Timeout | undefined
  /** The next turn. */
  #timer: NodeJS.Timeout | undefined
  #isRunning = false
  /** Another turn must follow the one that runs. */
  #isDue = false
  #lastTurnAt = 0

  constructor(records: RecordStorage) {
    this.#records = records
  }

  /** False when no other reader may come. */
  get hasRoom(): boolean {
    return !this.#isClosed && this.#readers.size < maxReaders
  }

  /** Readers that are served now. */
  get readers(): number {
    return this.#readers.size
  }

  /** Begins a stream. It ends with its response. */
  add({
    response,
    bucket,
    position,
    hello,
  }: {
    readonly response: ServerResponse
    readonly bucket: string
    readonly position: Position
    readonly hello: Parameters<LiveReader['greet']>[0]
  }): void {
    const reader = new LiveReader({ response, bucket, position })
    reader.greet(hello)
    this.#readers.add(reader)
    response.once('close', () => this.#remove(reader))
    response.on('error', () => {})
    response.on('drain', () => this.#wake())
    this.#stopListening ??= this.#records.onCommit(() => this.#wake())
    this.#comments ??= setInterval(() => {
      for (const each of this.#readers) each.comment()
    }, commentMs)
    if (this.#records.othersMs !== undefined) this.#others ??= setInterval(() => this.#wake(), this.#records.othersMs)
    this.#wake()
  }

  /** Ends all streams. The close of the server drops those whose clients do not read. Idempotent. */
  close(): void {
    this.#isClosed = true
    for (const reader of this.#readers) {
      reader.end()
      this.#remove(reader)
    }
  }

  #remove(reader: LiveReader): void {
    this.#readers.delete(reader)
    if (this.#readers.size > 0) return
    this.#stopListening?.()
    this.#stopListening = undefined
    clearInterval(this.#comments)
    this.#comments = undefined
    clearInterval(this.#others)
    this.#others = undefined
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #wake(): void {
    this.#isDue = true
    if (this.#isRunning || this.#timer !== undefined || this.#readers.size === 0) return
    const sinceLast = performance.now() - this.#lastTurnAt
    this.#timer = setTimeout(() => void this.#run(), Math.max(0, turnMs - sinceLast))
  }

  async #run(): Promise<void> {
    this.#timer = undefined
    this.#isRunning = true
    this.#isDue = false
    this.#lastTurnAt = performance.now()
    const records = this.#sharedRecords()
    const advances = [...this.#readers].map((reader) => this.#advance(reader, records))
    const hasMore = (await Promise.all(advances)).includes(true)
    this.#isRunning = false
    if (hasMore || this.#isDue) this.#wake()
  }

  /** A reader whose records cannot be read is ended. Its client comes back and resumes. */
  async #advance(reader: LiveReader, records: LiveRecords): Promise<boolean> {
    try {
      return await reader.advance(records)
    } catch (error) {
      if (this.#isClosed) return false
      say(`cannot read live records: ${(error as Error).message}`)
      reader.end()
      return false
    }
  }

  /** Readers at the same position share what one of them has read in this turn. */
  #sharedRecords(): LiveRecords {
    const known = new Map<string, Promise<Arrivals>>()
    return {
      missed: (query) => this.#records.missed(query),
      arrivals: (query: ArrivalsQuery) => {
        const name = JSON.stringify(query)
        const found = known.get(name) ?? this.#records.arrivals(query)
        known.set(name, found)
        return found
      },
    }
  }
}
