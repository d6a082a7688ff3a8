import type { PinoLine } from '../engine/ports.js'
import { logHead, type MappedLog } from '../records/encode.js'
import type { PinoStyle } from '../records/from-pino.js'
import type { WinstonLine } from '../records/plain-winston-line.js'
import { lineEnd, logFrame, pinoStart, styleFrame, valueEnd, valueStart, winstonStart } from './frames.js'

/** Writes frames, and remembers what the last ones had in common with the next: a level within a millisecond, a millisecond. */
export class FrameWriter {
  readonly #announce: (styleFrame: string) => void
  /** Of the loggers whose lines come as pino has written them, by number. */
  readonly #styles: PinoStyle[] = []
  #startedAt = 0
  #startedLevel = ''
  #start = ''
  #valueMilliseconds = 0
  #valueEnd = valueEnd(0)

  /** @param announce takes a frame that must come before the next one of {@link pino} */
  constructor(announce: (styleFrame: string) => void) {
    this.#announce = announce
  }

  get styles(): readonly PinoStyle[] {
    return this.#styles
  }

  log({ severity, fields }: MappedLog): string {
    return logFrame(severity, logHead(fields))
  }

  winston(line: string, { level, severity, arrivedAt }: WinstonLine): string {
    if (arrivedAt !== this.#startedAt || level !== this.#startedLevel) {
      this.#startedAt = arrivedAt
      this.#startedLevel = level
      this.#start = winstonStart({ level, severity, arrivedAt })
    }
    return this.#start + line + lineEnd
  }

  pino(line: string, { style, severity, arrivedAt }: PinoLine): string {
    let number = this.#styles.indexOf(style)
    if (number === -1) {
      number = this.#styles.push(style) - 1
      this.#announce(styleFrame(number, style))
    }
    return pinoStart(number, { severity, arrivedAt }) + line + lineEnd
  }

  value(eventId: number, milliseconds: number): string {
    if (milliseconds !== this.#valueMilliseconds) {
      this.#valueMilliseconds = milliseconds
      this.#valueEnd = valueEnd(milliseconds)
    }
    return valueStart + eventId + this.#valueEnd
  }

  /** What a new worker must hear first. */
  allStyles(): string {
    return this.#styles.map((style, number) => styleFrame(number, style)).join('')
  }
}
