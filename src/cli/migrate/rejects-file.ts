import { type FileHandle, open, rm } from 'node:fs/promises'
import type { Line } from './line-reader.js'

/** Why a line has not arrived. */
export interface Rejection {
  readonly reasons: readonly string[]
  /** What the service said, when it was asked. */
  readonly code?: string | undefined
  readonly status?: number | undefined
  readonly correlationId?: string | undefined
  /** The service may have made an entry of it all the same. */
  readonly mayHaveArrived?: true
}

/** The file with the lines that have not arrived, as objects with line number, reasons, and the line itself. */
export class RejectsFile {
  readonly path: string
  #file: FileHandle | undefined
  #writing: Promise<void> = Promise.resolve()

  private constructor(path: string) {
    this.path = path
  }

  /** Begin anew: the rejects of an earlier run are tried again, and come back when they are rejected again. */
  static async begin(path: string): Promise<RejectsFile> {
    await rm(path, { force: true })
    return new RejectsFile(path)
  }

  /** Resolves when it is written, so that a reader waits for the disk. */
  async add(line: Line, rejection: Rejection): Promise<void> {
    const { number, bytes, tooLong } = line
    const text = tooLong ? null : bytes.toString('utf8')
    const reject = `${JSON.stringify({ line: number, ...rejection, text })}\n`
    this.#writing = this.#writing.then(async () => {
      this.#file ??= await open(this.path, 'a')
      await this.#file.appendFile(reject)
    })
    await this.#writing
  }

  async close(): Promise<void> {
    await this.#writing
    await this.#file?.close()
  }
}
