import { appendFileSync, readdirSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from './make-folder.js'
import { lineMiddle, type SpoolLine, spoolLine } from './spool-line.js'

/** Where the files are, in the folder of the spool. */
export const deadLetterFolder = 'dead-letter'

/** A rejected record. */
export type DeadLetter = Omit<SpoolLine, 'number' | 'refusal'> & { readonly refusal: NonNullable<SpoolLine['refusal']> }

/**
 * Rejected records, with the reasons, in files that no engine ever reads: a person does, or `sluice replay`. All engines of a spool
 * together keep so many bytes of them; beyond that the oldest files go.
 */
export class DeadLetters {
  readonly #folder: string
  readonly #id: string
  readonly #maxBytes: number
  #lines: string[] = []
  #number = 0
  /** Of the present file, which is begun anew at a sixteenth of the bound. */
  #bytes = Number.POSITIVE_INFINITY
  /** Numbers go on from file to file: none comes twice in one. */
  #records = 0

  constructor(plan: { readonly spoolDir: string; readonly id: string; readonly maxBytes: number }) {
    this.#folder = join(plan.spoolDir, deadLetterFolder)
    this.#id = plan.id
    this.#maxBytes = plan.maxBytes
  }

  add(letter: DeadLetter): void {
    const text = spoolLine(
      { ...letter, number: this.#records++ },
      { middle: lineMiddle(letter), refusal: letter.refusal },
    )
    this.#lines.push(text)
  }

  /** Write what has come. Throws what the file system does; what could not be written is gone. */
  commit(): void {
    if (this.#lines.length === 0) return
    const text = `${this.#lines.join('\n')}\n`
    this.#lines = []
    if (this.#bytes > this.#maxBytes / 16) this.#begin()
    this.#bytes += Buffer.byteLength(text)
    const name = `${this.#id}-${String(this.#number).padStart(6, '0')}.ndjson`
    // By its name each time: `sluice replay` may have taken the file away, to send what is in it.
    appendFileSync(join(this.#folder, name), text, { mode: 0o600 })
  }

  /** Another file; the oldest have to make room for it. */
  #begin(): void {
    makeFolder(this.#folder)
    this.#number++
    this.#bytes = 0
    const files = readdirSync(this.#folder).flatMap((name) => {
      const path = join(this.#folder, name)
      const facts = statSync(path, { throwIfNoEntry: false })
      return facts?.isFile() === true ? [{ path, bytes: facts.size, at: facts.mtimeMs }] : []
    })
    files.sort((a, b) => a.at - b.at)
    let bytes = files.reduce((sum, file) => sum + file.bytes, this.#maxBytes / 16)
    for (const file of files) {
      if (bytes <= this.#maxBytes) return
      unlinkSync(file.path)
      bytes -= file.bytes
    }
  }
}
