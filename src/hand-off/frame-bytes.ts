import type { Engine } from '../engine/engine.js'
import type { BodyWriter } from '../engine/ports.js'
import type { PinoStyle } from '../records/pino-line.js'
import type { ValueBytes } from '../records/value-bytes.js'
import type { WinstonBytes } from '../records/winston-bytes.js'
import type { WinstonLine } from '../records/winston-line.js'
import { readFrame } from './frames.js'

/**
 * Gives the records of frames to an engine as bytes, where their lines are plain: such a line never becomes a string. Reads what
 * `FrameWriter` writes. Other frames are left to `readFrame`.
 */
export class PlainFrames {
  readonly #engine: Engine
  readonly #styles: readonly PinoStyle[]
  /** By number of the style. */
  readonly #pino: BodyWriter[] = []
  readonly #winston: WinstonFrames
  readonly #values: ValueBytes

  constructor(engine: Engine, styles: readonly PinoStyle[]) {
    this.#engine = engine
    this.#styles = styles
    this.#winston = new WinstonFrames(engine.writer.winstonBytes())
    this.#values = engine.writer.valueBytes()
  }

  /** Take the frame that stands in `lines` from `from` to `end`. False for one that is not plain. */
  take(lines: Buffer, from: number, end: number): boolean {
    switch (lines[from]) {
      case pinoCode:
        return this.#takePino(lines, from, end)
      case winstonCode:
        return this.#engine.plainLine(lines, from, end, this.#winston)
      case valueCode:
        return this.#engine.plainValue(lines, from + 1, end, this.#values)
      default:
        return false
    }
  }

  /** `p`, severity, number of the style, comma, time, comma, line. */
  #takePino(lines: Buffer, from: number, end: number): boolean {
    let number = 0
    let at = from + 2
    for (; at < end && lines[at] !== comma; at++) number = number * 10 + lines[at]! - zero
    const writer = this.#pino[number] ?? this.#newPino(number)
    return writer !== undefined && this.#engine.plainLine(lines, behindComma(lines, at + 1, end), end, writer)
  }

  /** Undefined while the style has not come. */
  #newPino(number: number): BodyWriter | undefined {
    const style = this.#styles[number]
    if (style === undefined) return undefined
    const writer = this.#engine.writer.pinoBytes(style)
    this.#pino[number] = writer
    return writer
  }
}

/** Writes the bodies of winston frames: `w`, severity, time, comma, level, comma, line. */
class WinstonFrames implements BodyWriter {
  readonly #bytes: WinstonBytes
  /** The beginning of the last frame, up to its line. It is the same for all lines of a level in a millisecond. */
  #start = Buffer.alloc(0)
  #about: WinstonLine = { level: '', severity: 0, arrivedAt: 0 }

  constructor(bytes: WinstonBytes) {
    this.#bytes = bytes
  }

  get severity() {
    return this.#about.severity
  }

  get level() {
    return this.#about.level
  }

  most(frameBytes: number): number {
    return this.#bytes.most(frameBytes)
  }

  write(lines: Buffer, from: number, end: number, memory: Buffer, at: number): number {
    const start = this.#start
    let lineAt = from + start.length
    if (start.length === 0 || lineAt > end || lines.compare(start, 0, start.length, from, lineAt) !== 0) {
      lineAt = behindComma(lines, behindComma(lines, from, end), end)
      const frame = readFrame(lines.toString('latin1', from, lineAt))
      if (frame.type !== 'winston') return -1
      this.#about = frame
      this.#start = Buffer.from(lines.subarray(from, lineAt))
    }
    return this.#bytes.write(lines, lineAt, end, memory, at, this.#about)
  }
}

/** The position behind the next comma; the end where there is none. */
function behindComma(lines: Buffer, from: number, end: number): number {
  let at = from
  while (at < end && lines[at] !== comma) at++
  return Math.min(at + 1, end)
}

const comma = ','.charCodeAt(0)
const zero = '0'.charCodeAt(0)
const pinoCode = 'p'.charCodeAt(0)
const winstonCode = 'w'.charCodeAt(0)
const valueCode = 'v'.charCodeAt(0)
