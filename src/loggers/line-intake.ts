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

/** Characters of lines that are taken at once: less than a millisecond of work. */
const pieceChars = 65_536
/**
 * Characters that are taken in one turn of the event loop while the queue has room. Lines that wait in the application's thread take twice
 * the memory of those in the queue, and its collector of garbage more work.
 */
const roomyChars = 16 * pieceChars

/**
 * The stream that pino's worker writes to. It splits pieces into lines itself, as bytes: pino-abstract-transport would make a string of each
 * line, and take a microsecond more.
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
    super({ decodeStrings: false, highWaterMark: pieceChars })
    this.#plan = plan
  }

  override _write(chunk: string | Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (chunk.length >= pieceChars) {
      this.#takeSlowly(chunk, { from: 0, done })
      return
    }
    this.#take(chunk)
    done()
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

  #takeSlowly(chunk: string | Buffer, { from, done }: { from: number; done: () => void }): void {
    const most = this.#plan.isRoomy() ? roomyChars : pieceChars
    let until = from
    while (until < chunk.length && until - from < most) {
      const begin = until
      until = typeof chunk === 'string' ? wholeUntil(chunk, begin + pieceChars) : begin + pieceChars
      this.#take(typeof chunk === 'string' ? chunk.slice(begin, until) : chunk.subarray(begin, until))
    }
    setImmediate(() => {
      if (until < chunk.length) this.#takeSlowly(chunk, { from: until, done })
      else done()
    })
  }

  #take(piece: string | Buffer): void {
    if (typeof piece === 'string') this.#lines.push(piece)
    else this.#lines.pushBytes(piece)
    while (this.#lines.next()) this.#takeLine()
  }

  #takeLine(): void {
    const { bytes, from, end } = this.#lines
    this.#plan.take(bytes, from, end > from && bytes[end - 1] === carriageReturn ? end - 1 : end)
  }
}

/** The position, or the one behind it, so that no pair of surrogates is cut. */
function wholeUntil(text: string, position: number): number {
  const code = text.charCodeAt(position - 1)
  return code >= 0xd800 && code < 0xdc00 ? position + 1 : position
}

const carriageReturn = '\r'.charCodeAt(0)
