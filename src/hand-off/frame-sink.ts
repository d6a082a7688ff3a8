import type { LedgerBook } from '../delivery/ledger-book.js'
import type { Engine } from '../engine/engine.js'
import type { BodyWriter } from '../engine/ports.js'
import type { FrameHead, TextHead } from '../pipe/frame.js'
import type { FrameSink } from '../pipe/pipe-reader.js'
import type { LineFacts } from '../records/encode.js'
import type { PinoStyle } from '../records/pino-line.js'
import type { WinstonBytes } from '../records/winston-bytes.js'
import type { WinstonLine } from '../records/winston-line.js'
import { marks } from './frames.js'

export interface EngineSinkPlan {
  readonly engine: Engine
  readonly book: Pick<LedgerBook, 'taken'>
  /** Styles of pino loggers, by number. The sink adds the styles that come. */
  readonly styles: PinoStyle[]
  /** True when the thread takes no more. @default never */
  readonly isHalted?: () => boolean
}

/** Gives the records of frames to an engine: as bytes where their lines are plain, so that such a line never becomes a string. */
export class EngineSink implements FrameSink {
  readonly #engine: Engine
  readonly #book: Pick<LedgerBook, 'taken'>
  readonly #styles: PinoStyle[]
  readonly #isHalted: () => boolean
  /** By number of the style. */
  readonly #pino: BodyWriter[] = []
  readonly #winston: WinstonFrames

  constructor({ engine, book, styles, isHalted = () => false }: EngineSinkPlan) {
    this.#engine = engine
    this.#book = book
    this.#styles = styles
    this.#isHalted = isHalted
    this.#winston = new WinstonFrames(engine.writer.winstonBytes())
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

  text(head: TextHead, memory: Buffer, from: number, end: number): void {
    try {
      if (this.#takePlain(head, memory, from, end)) return
    } catch {
      // The slow way makes a record of every line.
    }
    try {
      this.#take(head, memory, from, end)
    } catch (error) {
      this.#engine.unreadableLine(error)
    }
  }

  unreadable({ kind }: FrameHead): void {
    if (kind !== 'style') this.#engine.lostLine()
  }

  /** False for a line that is not plain. */
  #takePlain(head: TextHead, memory: Buffer, from: number, end: number): boolean {
    if ((head.marks & marks.below) !== 0) return false
    if (head.kind === 'pino') {
      const writer = this.#pino[head.style] ?? this.#newPino(head.style)
      return writer !== undefined && this.#engine.plainLine(memory, from, end, writer)
    }
    return head.kind === 'winston' && this.#engine.plainLine(memory, from, end, this.#winston.of(head))
  }

  #take({ kind, severity, style, time, marks: marked }: TextHead, memory: Buffer, from: number, end: number): void {
    const engine = this.#engine
    const below = (marked & marks.below) !== 0
    if (kind === 'pino') {
      const line = memory.toString('utf8', from, end)
      engine.pinoLine(line, { style: this.#styles[style] ?? {}, severity, arrivedAt: time, below })
    } else if (kind === 'winston') {
      const level = memory.toString('utf8', from, from + style)
      engine.winstonLine(memory.toString('utf8', from + style, end), { level, severity, arrivedAt: time, below })
    } else if (kind === 'log') {
      const facts = style === 0 ? undefined : (JSON.parse(memory.toString('utf8', from, from + style)) as LineFacts)
      const redacted = (marked & marks.redacted) !== 0
      engine.logHead({ severity, head: memory.toString('utf8', from + style, end), facts, below, redacted })
    } else if (kind === 'sampled') engine.sampledOut()
    else this.#styles[style] = JSON.parse(memory.toString('utf8', from, end)) as PinoStyle
  }

  #newPino(number: number): BodyWriter | undefined {
    const style = this.#styles[number]
    if (style === undefined) return undefined
    const writer = this.#engine.writer.pinoBytes(style)
    this.#pino[number] = writer
    return writer
  }
}

/** Writes the bodies of winston's lines, behind the names of their levels. */
class WinstonFrames implements BodyWriter {
  readonly #bytes: WinstonBytes
  /** The name of the level in the last frame. */
  #name = Buffer.alloc(0)
  /** Its length in this frame. */
  #nameBytes = 0
  #about: { -readonly [Name in keyof WinstonLine]: WinstonLine[Name] } = { level: '', severity: 0, arrivedAt: 0 }

  constructor(bytes: WinstonBytes) {
    this.#bytes = bytes
  }

  get severity() {
    return this.#about.severity
  }

  get level() {
    return this.#about.level
  }

  /** Of the frame with this head. */
  of({ severity, time, style }: TextHead): this {
    this.#about.severity = severity
    this.#about.arrivedAt = time
    this.#nameBytes = style
    return this
  }

  most(frameBytes: number): number {
    return this.#bytes.most(frameBytes)
  }

  write(lines: Buffer, from: number, end: number, memory: Buffer, at: number): number {
    const lineAt = from + this.#nameBytes
    const name = this.#name
    if (name.length !== this.#nameBytes || lines.compare(name, 0, name.length, from, lineAt) !== 0) {
      this.#name = Buffer.from(lines.subarray(from, lineAt))
      this.#about.level = this.#name.toString()
    }
    return this.#bytes.write(lines, lineAt, end, memory, at, this.#about)
  }
}
