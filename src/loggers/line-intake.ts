import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { setImmediate } from '../runtime/clock.js'

export interface LineIntakePlan {
  /** Takes a line without its end. Must not throw. */
  readonly take: (line: string) => void
  /** Called once, when all lines are taken or the stream is destroyed. */
  readonly close: () => Promise<unknown>
  /** True while the queue has room, so that lines may come faster than their records leave. */
  readonly isRoomy: () => boolean
}

/** Characters of lines that are taken in one turn of the event loop: less than a millisecond of work. */
const turnChars = 65_536
/** The same while the queue has room. Lines that wait in the application's thread take more memory than records in the queue. */
const roomyTurnChars = 16 * turnChars

/**
 * The stream that pino's worker writes to. It splits what is written into lines itself: pino-abstract-transport would parse each line, and
 * take several microseconds more.
 *
 * A write has all lines since the last one, up to 4 MiB, and in a burst the next write follows at once. So a long one is taken over
 * several turns of the event loop. Otherwise no record would leave and no answer would be read until the end of the burst. When the queue
 * is half full, lines come slowly: they wait better where nothing has to be dropped for them.
 *
 * A write counts as read when all of its lines are taken. For a long one `write` returns false until then.
 */
export class LineIntake extends Writable {
  readonly #plan: LineIntakePlan
  readonly #decoder = new StringDecoder('utf8')
  /** The text that is taken now, from `#at` on. */
  #text = ''
  #at = 0
  /** The beginning of a line whose end has not come. */
  #beginning: string[] = []

  constructor(plan: LineIntakePlan) {
    super({ decodeStrings: false, highWaterMark: turnChars })
    this.#plan = plan
  }

  override _write(chunk: string | Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#text = typeof chunk === 'string' ? chunk : this.#decoder.write(chunk)
    this.#at = 0
    if (chunk.length >= turnChars) this.#takeByTurns(done)
    else {
      this.#take(Number.POSITIVE_INFINITY)
      done()
    }
  }

  override _final(done: () => void): void {
    const rest = this.#whole(this.#decoder.end())
    if (rest !== '') this.#plan.take(rest)
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const end = () => done(error)
    this.#plan.close().then(end, done)
  }

  #takeByTurns(done: () => void): void {
    const hasMore = this.#take(this.#plan.isRoomy() ? roomyTurnChars : turnChars)
    // pino's worker writes on within `done`: sockets come before that, too.
    setImmediate(hasMore ? () => this.#takeByTurns(done) : done)
  }

  /** Take lines of about `most` characters. False when no whole line is left. */
  #take(most: number): boolean {
    const text = this.#text
    const until = this.#at + most
    while (this.#at < until) {
      const end = text.indexOf('\n', this.#at)
      if (end === -1) {
        if (this.#at < text.length) this.#beginning.push(text.slice(this.#at))
        this.#text = ''
        return false
      }
      const line = this.#whole(text.slice(this.#at, end))
      this.#at = end + 1
      this.#plan.take(line.charCodeAt(line.length - 1) === carriageReturn ? line.slice(0, -1) : line)
    }
    return true
  }

  /** A line with its beginning, if that came before. */
  #whole(end: string): string {
    if (this.#beginning.length === 0) return end
    const line = this.#beginning.join('') + end
    this.#beginning = []
    return line
  }
}

const carriageReturn = '\r'.charCodeAt(0)
