import { Writable } from 'node:stream'
import { LineBytes } from '../records/line-bytes.js'
import { setImmediate } from '../runtime/clock.js'

export interface LineIntakePlan {
  /** Takes the line, without its end, that stands in `bytes` before `end`. The bytes change after the call. Must not throw. */
  readonly take: (bytes: Buffer, from: number, end: number) => void
  /** Called once, when all lines are taken or the stream is destroyed. */
  readonly close: () => Promise<unknown>
  /** True while the queue has room, so that lines may come faster than their records leave. */
  readonly isRoomy: () => boolean
}

/** Bytes of lines that are taken in one turn of the event loop: less than a millisecond of work. */
const turnBytes = 65_536
/** The same while the queue has room. Lines that wait in the application's thread take more memory than records in the queue. */
const roomyTurnBytes = 16 * turnBytes

/**
 * The stream that pino's worker writes to. It splits what is written into lines itself, as bytes: pino-abstract-transport would make a string
 * of each line, and take a microsecond more.
 *
 * A write has all lines since the last one, up to 4 MiB, and in a burst the next write follows at once. So a long one is taken over
 * several turns of the event loop. Otherwise no record would leave and no answer would be read until the end of the burst. When the queue
 * is half full, lines come slowly: they wait better where nothing has to be dropped for them.
 *
 * A write counts as read when all of its lines are taken. For a long one `write` returns false until then.
 */
export class LineIntake extends Writable {
  readonly #plan: LineIntakePlan
  readonly #lines = new LineBytes()

  constructor(plan: LineIntakePlan) {
    super({ decodeStrings: false, highWaterMark: turnBytes })
    this.#plan = plan
  }

  override _write(chunk: string | Buffer, _encoding: BufferEncoding, done: () => void): void {
    // As bytes at once: a string of megabytes that lives for some turns makes the heap grow.
    if (typeof chunk === 'string') this.#lines.push(chunk)
    else this.#lines.pushBytes(chunk)
    if (chunk.length >= turnBytes) this.#takeByTurns(done)
    else {
      this.#take(Number.POSITIVE_INFINITY)
      done()
    }
  }

  override _final(done: () => void): void {
    const lines = this.#lines
    if (lines.last()) this.#plan.take(lines.bytes, lines.from, lines.end)
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const end = () => done(error)
    this.#plan.close().then(end, done)
  }

  #takeByTurns(done: () => void): void {
    const hasMore = this.#take(this.#plan.isRoomy() ? roomyTurnBytes : turnBytes)
    // pino's worker writes on within `done`: sockets come before that, too.
    setImmediate(hasMore ? () => this.#takeByTurns(done) : done)
  }

  /** Take lines of about `most` bytes. False when no whole line is left. */
  #take(most: number): boolean {
    const lines = this.#lines
    for (let left = most; left > 0; left -= lines.end + 1 - lines.from) {
      if (!lines.next()) return false
      const { bytes, from, end } = lines
      this.#plan.take(bytes, from, end > from && bytes[end - 1] === carriageReturn ? end - 1 : end)
    }
    return true
  }
}

const carriageReturn = '\r'.charCodeAt(0)
