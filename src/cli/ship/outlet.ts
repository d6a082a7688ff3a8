import type { Writable } from 'node:stream'

/** Passes bytes on to stdout, as fast as its reader takes them. When that is gone, they go nowhere, and nothing else ends. */
export class Outlet {
  readonly #target: Writable
  #failure: NodeJS.ErrnoException | undefined
  #wake: () => void = () => {}
  #over = false

  constructor(target: Writable) {
    this.#target = target
    target.on('drain', () => this.#wake())
    target.on('error', (error) => {
      this.#failure ??= error
      this.abandon()
    })
    target.on('close', () => this.abandon())
  }

  /** Resolves when more may be passed on. Never rejects. */
  async pass(bytes: Buffer): Promise<void> {
    if (this.#over || this.#target.write(bytes) || this.#target.writableLength === 0) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      if (this.#over) resolve()
    })
  }

  /** Wait for the reader no more. */
  abandon(): void {
    this.#over = true
    this.#wake()
  }

  /** Why bytes could not be passed on; that the reader has gone, as `head` does, is no failure. */
  get failure(): string | undefined {
    return this.#failure === undefined || this.#failure.code === 'EPIPE' ? undefined : this.#failure.message
  }

  /** Whether its reader has not taken everything. */
  get pending(): boolean {
    return this.#failure === undefined && this.#target.writableLength > 0
  }
}
