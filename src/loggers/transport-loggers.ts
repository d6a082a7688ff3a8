import type winston from 'winston'
import type { HoldingStream, LineHolder } from '../process/held-lines.js'
import { setImmediate } from '../runtime/clock.js'

/** winston's handler of exceptions or of rejections. */
interface Handler {
  /** Its listener, while it listens. */
  readonly catcher?: unknown
  readonly handlers?: ReadonlyMap<unknown, unknown>
}

/** A logger of winston, or another stream that pipes into a transport. */
interface Source extends HoldingStream {
  readonly levels?: Record<string, number>
  readonly exceptions?: Handler
  readonly rejections?: Handler
  readonly _writableState?: { readonly ending: boolean }
  pipe?(transport: object): unknown
}

/** The part of a transport in which winston-transport remembers the first logger. */
interface Following {
  parent?: Source | null
  levels?: Record<string, number> | undefined
}

interface LoggersPlan {
  readonly added: (logger: object) => void
  /** The last logger has left. */
  readonly left: () => void
  /** No logger has come meanwhile: one that is configured anew takes its transports out and adds them again. */
  readonly unused: () => void
}

/**
 * The loggers of a transport. winston-transport knows the first one alone: when that one leaves or ends, the transport would stop working for
 * all others, and it would not work again where it is added again.
 */
export class TransportLoggers implements LineHolder {
  readonly #transport: winston.transport
  readonly #following: Following
  /** A logger is in it once for each pipe. */
  readonly #all: Source[] = []
  #isFinishing = false

  constructor(transport: winston.transport, plan: LoggersPlan) {
    this.#transport = transport
    this.#following = transport as Following
    transport.on('pipe', (logger: Source) => {
      const stream = streamOf(logger)
      this.#all.push(stream)
      if (!this.#following.parent) this.#follow(logger)
      plan.added(stream)
    })
    // Before winston-transport's own listener, which closes the transport when the first logger leaves.
    transport.prependListener('unpipe', (logger: Source) => {
      const stream = streamOf(logger)
      const index = this.#all.indexOf(stream)
      if (index !== -1) this.#all.splice(index, 1)
      const { parent } = this.#following
      if (parent && streamOf(parent) === stream) this.#follow(this.#all[0])
      if (this.#all.length > 0 || this.#isFinishing || this.#handles(stream)) return
      setImmediate(() => {
        if (this.#all.length === 0) plan.unused()
      })
      plan.left()
    })
  }

  get streams(): readonly HoldingStream[] {
    return [...this.#all, this.#transport]
  }

  /**
   * A logger that ends also ends its transports. Where other loggers go on, the transport does: the one that ends waits for no more than a
   * flush.
   *
   * @returns false where the transport has to end
   */
  goOnAfter(flush: () => Promise<unknown>): boolean {
    const open = this.#open()
    if (open.length === 0 || open.length === this.#all.length) return false
    void flush().then(() => this.finish())
    return true
  }

  /** Tell those who wait for it that the transport has taken all lines. At this event every logger leaves it; those that go on come back. */
  finish(): void {
    if (isEnding(this.#transport as Source)) return
    const open = this.#open()
    this.#isFinishing = true
    try {
      this.#transport.emit('finish')
    } finally {
      this.#isFinishing = false
      for (const logger of open) if (!isEnding(logger)) logger.pipe?.(this.#transport)
    }
  }

  #open(): readonly Source[] {
    return this.#all.filter((logger) => !isEnding(logger))
  }

  /** True while this logger gives its exceptions or rejections to the transport. */
  #handles({ exceptions, rejections }: Source): boolean {
    const isHandler = (each?: Handler) => Boolean(each?.catcher) && each?.handlers?.has(this.#transport) === true
    return isHandler(exceptions) || isHandler(rejections)
  }

  #follow(logger: Source | undefined): void {
    this.#following.parent = logger ?? null
    if (logger !== undefined) this.#following.levels = logger.levels
  }
}

/** A child of a logger is an object with the logger as its prototype. It shares the logger's stream. */
function streamOf(logger: Source): Source {
  for (let each: Source | null = logger; each !== null; each = Object.getPrototypeOf(each) as Source | null)
    if (Object.hasOwn(each, '_readableState')) return each
  return logger
}

function isEnding({ _writableState }: Source): boolean {
  return _writableState?.ending === true
}
