import { createReadStream, open, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { promisify } from 'node:util'

export const pieceBytes = 65_536

/** The bytes of a file or of a named pipe, opened like one, such as `<(journalctl)`. Rejects with what the file system says. */
export async function openInput(path: string): Promise<Readable> {
  const facts = await factsOf(path)
  if (!facts.isFIFO() && !facts.isSocket()) return createReadStream(path, { highWaterMark: pieceBytes })
  // A thread that waits in a read of a pipe would hold up the end of the process.
  return new Socket({ fd: await promisify(open)(path, 'r'), readable: true, writable: false })
}

/** What is known of a file; rejects for a folder, too. */
export async function factsOf(path: string): Promise<Stats> {
  const facts = await stat(path)
  if (facts.isDirectory()) throw Object.assign(new Error(`${path} is a folder`), { code: 'EISDIR' })
  return facts
}

/** Why a file cannot be read, in words. */
export function unreadableWords(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return words[code ?? ''] ?? message
}

const words: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'it may not be read',
}

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
