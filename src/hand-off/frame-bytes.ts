import type { Engine } from '../engine/engine.js'
import type { BodyWriter } from '../engine/ports.js'
import type { PinoStyle } from '../records/pino-line.js'
import type { WinstonLine } from '../records/winston-line.js'
import { readFrame } from './frames.js'

/** A writer of winston's lines. It is told about each line first. */
interface WinstonWriter extends BodyWriter {
  about: WinstonLine
}

/**
 * Gives the records of frames to an engine as bytes, where their lines are plain. Such a line never becomes a string. Reads what
 * `FrameWriter` writes; anything else is left to `readFrame`.
 */
export class PlainFrames {
  readonly #engine: Engine
  readonly #styles: readonly PinoStyle[]
  /** By number of the style. */
  readonly #pino: BodyWriter[] = []
  /** The beginning of the last winston frame, up to its line. It is the same for all lines of a level in a millisecond. */
  #winstonStart = Buffer.alloc(0)

  constructor(engine: Engine, styles: readonly PinoStyle[]) {
    this.#engine = engine
    this.#styles = styles
  }

  /** Take the frame that stands in `lines` from `from` to `end`. False for one that is not plain. */
  take(lines: Buffer, from: number, end: number): boolean {
    switch (lines[from]) {
      case pinoCode:
        return this.#takePino(lines, from, end)
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
    return this.#engine.plainLine(lines, behindComma(lines, at + 1, end), end, writer)
  }

  #newPino(number: number): BodyWriter {
    const writer = this.#engine.pinoBytes(this.#styles[number] ?? {})
    // A style that has not come yet may come.
    if (this.#styles[number] !== undefined) this.#pino[number] = writer
    return writer
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
