import type { ResolvedOptions } from '../options/options.js'
import type { MappedLog } from '../records/encode.js'
import { Engine, type EngineSetting, type WrittenHead } from './engine.js'
import type { AcceptanceWatch } from './ports.js'

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

  override value(eventId: number, milliseconds: number): void {
    super.value(eventId, milliseconds)
    this.#accepted()
  }
}
