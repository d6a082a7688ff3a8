import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { setImmediate } from '../runtime/clock.js'

export interface LineIntakePlan {
  /** Takes a line without its end. Must not throw. */
  readonly take: (line: string) => void
  /** Called once, when all lines are taken or the stream is destroyed. */
  readonly close: () => Promise<unknown>
}

/** Characters of lines that are taken in one turn of the event loop: about a millisecond of work. */
const maxCharsPerTurn = 65_536

/**
 * The stream that pino's worker writes to. It splits pieces into lines itself: pino-abstract-transport would take a microsecond more for
 * each line.
 *
 * A piece has all lines since the last one, up to 4 MiB, and in a burst the next piece follows at once. So a long piece is taken over
 * several turns of the event loop. Otherwise no record would leave and no answer would be read until the end of the burst.
 *
 * A piece counts as read when all of its lines are taken. For a long piece `write` returns false until then.
 */
export class LineIntake extends Writable {
  readonly #plan: LineIntakePlan
  readonly #decoder = new StringDecoder('utf8')
  /** The beginning of a line whose end has not come. It is not read before that, so that appending to it needs no copy. */
  #rest = ''

  constructor(plan: LineIntakePlan) {
    super({ decodeStrings: false, highWaterMark: maxCharsPerTurn })
    this.#plan = plan
  }

  override _write(chunk: string | Buffer, _encoding: BufferEncoding, done: () => void): void {
    const text = typeof chunk === 'string' ? chunk : this.#decoder.write(chunk)
    if (chunk.length < maxCharsPerTurn) {
      this.#take(text, { from: 0, until: text.length })
      done()
    } else this.#takeSlowly(text, { from: 0, done })
  }

  override _final(done: () => void): void {
    const last = this.#rest + this.#decoder.end()
    this.#rest = ''
    if (last !== '') this.#plan.take(last)
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const end = () => done(error)
    this.#plan.close().then(end, done)
  }

  #takeSlowly(text: string, { from, done }: { from: number; done: () => void }): void {
    const next = this.#take(text, { from, until: from + maxCharsPerTurn })
    setImmediate(() => {
      if (next < text.length) this.#takeSlowly(text, { from: next, done })
      else done()
    })
  }

  /** Takes the lines that begin before `until`. Returns the position of the next line. */
  #take(text: string, { from, until }: { from: number; until: number }): number {
    let at = from
    while (at < until && at < text.length) {
      const end = text.indexOf('\n', at)
      if (end === -1) {
        this.#rest += text.slice(at)
        return text.length
      }
      const line = text.slice(at, end)
      this.#plan.take(withoutReturn(this.#rest === '' ? line : this.#rest + line))
      this.#rest = ''
      at = end + 1
    }
    return at
  }
}

function withoutReturn(line: string): string {
  return line.charCodeAt(line.length - 1) === carriageReturn ? line.slice(0, -1) : line
}

const carriageReturn = '\r'.charCodeAt(0)
