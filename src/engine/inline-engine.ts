import type { ResolvedOptions } from '../options/options.js'
import type { MappedLog, WrittenHead } from '../records/encode.js'
import type { WinstonLine } from '../records/winston-line.js'
import { Engine } from './engine.js'
import type { EngineSetting } from './engine-setting.js'
import type { AcceptanceWatch, KeyedValue, PinoLine } from './ports.js'

/** An engine in the thread of the application that logs. */
export class InlineEngine extends Engine {
  readonly #accepted: () => void

  constructor(options: ResolvedOptions, { accepted, ...setting }: EngineSetting & AcceptanceWatch) {
    super(options, setting)
    this.#accepted = accepted ?? (() => {})
  }

  override log(mapped: MappedLog): void {
    super.log(mapped)
    this.#accepted()
  }

  override logHead(head: WrittenHead): void {
    super.logHead(head)
    this.#accepted()
  }

  override winstonLine(line: string, about: WinstonLine): void {
    super.winstonLine(line, about)
    this.#accepted()
  }

  override pinoLine(line: string, about: PinoLine): void {
    super.pinoLine(line, about)
    this.#accepted()
  }

  override value(eventId: number, milliseconds: number): void {
    super.value(eventId, milliseconds)
    this.#accepted()
  }

  override keyedValue(value: KeyedValue): void {
    super.keyedValue(value)
    this.#accepted()
  }
}
