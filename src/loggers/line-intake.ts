import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { setImmediate } from '../runtime/clock.js'

export interface LineIntakePlan {
  /** Takes a line without its end. Must not throw. */
  readonly take: (line: string) => void
  /** Called once, when all lines are taken or the stream is destroyed. */
  readonly close: () => Promise<unknown>
}

/** Lines are taken in one turn of the event loop until they have so many characters: about a millisecond's worth. */
const maxCharsPerTurn = 65_536

/**
 * The stream into which pino's worker writes. What comes in one piece is all that the application has logged meanwhile, up to 4 MiB, and
 * in a burst the next piece comes as soon as this one is taken: answers would wait, and no record would leave, until the burst is over. So a
 * long piece is taken over several turns of the event loop.
 *
 * A piece counts as read only when all of its lines are taken: a short one is taken at once, and of a long one `write` says that it is to be
 * waited for.
 */
export class LineIntake extends Writable {
  readonly #plan: LineIntakePlan
  readonly #decoder = new StringDecoder('utf8')
  /** The beginning of a line whose end has not come; nothing is read in it, so that it costs no copy when more of the line comes. */
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

  /** Take the lines that begin before `until`; where the next one begins. */
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
