import type { LedgerBook } from '../delivery/ledger-book.js'
import type { Engine } from '../engine/engine.js'
import type { FrameHead, TextHead } from '../pipe/frame.js'
import type { FrameSink } from '../pipe/pipe-reader.js'
import type { LineStyle } from '../records/line-style.js'
import { marks } from './frames.js'

export interface EngineSinkPlan {
  readonly engine: Engine
  readonly book: Pick<LedgerBook, 'taken'>
  /** Styles of loggers, by number. The sink adds the styles that come. */
  readonly styles: LineStyle[]
  /** True when the thread takes no more. @default never */
  readonly isHalted?: () => boolean
}

/** Gives the records of frames to an engine. */
export class EngineSink implements FrameSink {
  readonly #engine: Engine
  readonly #book: Pick<LedgerBook, 'taken'>
  readonly #styles: LineStyle[]
  readonly #isHalted: () => boolean

  constructor({ engine, book, styles, isHalted = () => false }: EngineSinkPlan) {
    this.#engine = engine
    this.#book = book
    this.#styles = styles
    this.#isHalted = isHalted
  }

  taken(): number | undefined {
    return this.#isHalted() ? undefined : this.#book.taken
  }

  value(eventId: number, milliseconds: number): void {
    this.#engine.value(eventId, milliseconds)
  }

  keyed(eventId: number, milliseconds: number, key: string): void {
    this.#engine.keyedValue({ eventId, milliseconds, key })
  }

  text({ kind, severity, style, time, marks: marked }: TextHead, memory: Buffer, from: number, end: number): void {
    const text = memory.toString('utf8', from, end)
    if (kind === 'style') {
      this.#styles[style] = JSON.parse(text) as LineStyle
      return
    }
    const lineAt = (marked & marks.errors) === 0 ? 0 : text.indexOf('\n') + 1
    this.#engine.line(lineAt === 0 ? text : text.slice(lineAt), {
      style: this.#styles[style] ?? unknownStyle,
      severity,
      arrivedAt: time,
      below: (marked & marks.below) !== 0,
      redacted: (marked & marks.redacted) !== 0,
      errors: lineAt === 0 ? undefined : text.slice(0, lineAt - 1),
    })
  }

  unreadable({ kind }: FrameHead): void {
    if (kind !== 'style') this.#engine.lostLine()
  }
}

const unknownStyle: LineStyle = {}
