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

/** Reasons of this many lines are printed; the file has them all. */
const mostPrinted = 5
/** A printed reason is cut at this length, in characters. */
const maxReasonChars = 200

/** The file of the lines that have not arrived: objects with line number, reasons and text. */
export class RejectsFile {
  readonly path: string
  #file: FileHandle | undefined
  #writing: Promise<void> = Promise.resolve()
  #count = 0
  readonly #first: string[] = []

  private constructor(path: string) {
    this.path = path
  }

  /** For a person: number and reasons of the first lines that were added, and how many more there are. */
  get lines(): string[] {
    const more = this.#count - this.#first.length
    return more === 0 ? [...this.#first] : [...this.#first, `  and ${more} more`]
  }

  /** Delete the file of an earlier run: its lines are tried again. */
  static async begin(path: string): Promise<RejectsFile> {
    await rm(path, { force: true })
    return new RejectsFile(path)
  }

  /** Resolves when it is written, so that reading is no faster than the disk. */
  async add(line: Line, rejection: Rejection): Promise<void> {
    const { number, bytes, tooLong } = line
    this.#count++
    if (this.#first.length < mostPrinted)
      this.#first.push(`  line ${number}: ${shortened(rejection.reasons.join('; '))}`)
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

function shortened(reason: string): string {
  return reason.length > maxReasonChars ? `${reason.slice(0, maxReasonChars)}…` : reason
}
