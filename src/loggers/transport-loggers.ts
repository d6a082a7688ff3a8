import type winston from 'winston'
import { setImmediate } from '../runtime/clock.js'

/** A logger of winston, or another stream that pipes into a transport. */
interface Source {
  readonly levels?: Record<string, number>
  readonly _writableState?: { readonly ending: boolean }
  pipe?(transport: object): unknown
}

/** The part of a transport in which winston-transport remembers the first logger. */
interface Following {
  parent?: Source | null
  levels?: Record<string, number> | undefined
}

/**
 * The loggers of a transport. winston-transport knows the first one alone: when that one leaves or ends, the transport would stop working for
 * all others, and it would not work again where it is added again.
 */
export class TransportLoggers {
  readonly #transport: winston.transport
  readonly #following: Following
  readonly #all = new Set<Source>()

  constructor(
    transport: winston.transport,
    plan: { readonly added: (logger: object) => void; readonly unused: () => void },
  ) {
    this.#transport = transport
    this.#following = transport as Following
    transport.on('pipe', (logger: Source) => {
      this.#all.add(logger)
      if (!this.#following.parent) this.#follow(logger)
      plan.added(logger)
    })
    // Before winston-transport's own listener, which closes the transport when the first logger leaves.
    transport.prependListener('unpipe', (logger: Source) => {
      this.#all.delete(logger)
      if (this.#following.parent === logger) this.#follow([...this.#all][0])
      // A logger that is configured anew takes its transports out and adds them again.
      setImmediate(() => {
        if (this.#all.size === 0) plan.unused()
      })
    })
  }

  /**
   * A logger that ends also ends its transports. Where other loggers go on, the transport does: the one that ends waits for no more than a
   * flush.
   *
   * @returns false where the transport has to end
   */
  goOnAfter(flush: () => Promise<unknown>): boolean {
    const open = [...this.#all].filter((logger) => !isEnding(logger))
    if (open.length === 0 || open.length === this.#all.size) return false
    void flush().then(() => {
      if (isEnding(this.#transport as Source)) return
      // The logger waits for it. At this event every logger leaves the transport.
      this.#transport.emit('finish')
      for (const logger of open) if (!isEnding(logger)) logger.pipe?.(this.#transport)
    })
    return true
  }

  #follow(logger: Source | undefined): void {
    this.#following.parent = logger ?? null
    if (logger !== undefined) this.#following.levels = logger.levels
  }
}

function isEnding({ _writableState }: Source): boolean {
  return _writableState?.ending === true
}
