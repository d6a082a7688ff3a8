import { type FileHandle, open, rm } from 'node:fs/promises'
import type { Line } from '../line-splitter.js'

/** The reasons why a line has not arrived. */
export interface Rejection {
  readonly reasons: readonly string[]
  /** From the answer of the service, when there is one. */
  readonly code?: string | undefined
  readonly status?: number | undefined
  readonly correlationId?: string | undefined
  /** The service may have created the entry nevertheless. */
  readonly mayHaveArrived?: true
}

/** The file of the lines that have not arrived: objects with line number, reasons and text. */
export class RejectsFile {
  readonly path: string
  #file: FileHandle | undefined
  #writing: Promise<void> = Promise.resolve()

  private constructor(path: string) {
    this.path = path
  }

  /** Delete the file of an earlier run: its lines are tried again. */
  static async begin(path: string): Promise<RejectsFile> {
    await rm(path, { force: true })
    return new RejectsFile(path)
  }

  /** Resolves when it is written, so that reading is no faster than the disk. */
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
