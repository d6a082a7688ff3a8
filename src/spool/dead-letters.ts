import { lstatSync, readdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { append } from './append.js'
import { isOurFolder, makeFolder } from './spool-folder.js'
import { lineMiddle, type SpoolLine, spoolLine } from './spool-line.js'

/** Where the files are, in the folder of the spool. */
export const deadLetterFolder = 'dead-letter'
/** The name of a file of dead letters, or of one that `sluice replay` has set aside. */
export const deadLetterFile = /^\d+-[0-9a-z]+-[0-9a-z]+-\d{6,}(?:\.replay-[0-9a-f]{8})?\.ndjson$/

/** No file grows much beyond this, however large the bound. */
const maxFileBytes = 8_388_608

/** A rejected record. */
export type DeadLetter = Omit<SpoolLine, 'number' | 'refusal'> & { readonly refusal: NonNullable<SpoolLine['refusal']> }

export interface DeadLettersPlan {
  /** Of the spool. */
  readonly dir: string
  readonly maxBytes: number
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
  readonly random: () => number
  /** A folder in the spool that this engine has made. Throws what the file system does. */
  readonly home: () => string
}

/**
 * Rejected records, with the reasons, in files that no engine ever reads: a person does, or `sluice replay`. All engines of a spool
 * together keep so many bytes of them; beyond that the oldest files go.
 */
export class DeadLetters {
  readonly #folder: string
  readonly #plan: DeadLettersPlan
  readonly #fileBytes: number
  /** In the names of this engine's files: process, time and chance. */
  readonly #id: string
  #letters: DeadLetter[] = []
  #number = 0
  /** Of the present file, which is begun anew at a sixteenth of the bound. */
  #bytes = Number.POSITIVE_INFINITY
  /** Lines of the present file. */
  #records = 0

  constructor(plan: DeadLettersPlan) {
    this.#folder = join(plan.dir, deadLetterFolder)
    this.#plan = plan
    const [time, chance] = [plan.wallClock(), plan.random() * 2 ** 32]
    this.#id = `${process.pid}-${Math.floor(time).toString(36)}-${Math.floor(chance).toString(36)}`
    this.#fileBytes = Math.min(maxFileBytes, plan.maxBytes / 16)
  }

  add(letter: DeadLetter): void {
    this.#letters.push(letter)
  }

  /** Write what has come. Throws what the file system does; what could not be written is gone. */
  commit(): void {
    if (this.#letters.length === 0) return
    const letters = this.#letters
    this.#letters = []
    const fault = this.#bytes > this.#fileBytes ? this.#begin() : undefined
    const lines = letters.map((letter) =>
      spoolLine({ ...letter, number: this.#records++ }, { middle: lineMiddle(letter), refusal: letter.refusal }),
    )
    const text = lines.join('\n')
    this.#bytes += Buffer.byteLength(text) + 1
    const name = `${this.#id}-${String(this.#number).padStart(6, '0')}.ndjson`
    // By its name each time: `sluice replay` may have taken the file away, to send what is in it.
    append(join(this.#folder, name), text)
    if (fault !== undefined) throw fault
  }

  /** Another file; the oldest have to make room for it. What Sluice has not named is left alone. The answer is why one could not go. */
  #begin(): unknown {
    makeFolder(this.#folder)
    if (!isOurFolder(this.#folder, this.#plan.home)) {
      throw new Error(`${this.#folder} is no folder that this user alone can write: move it away`)
    }
    this.#number++
    this.#bytes = 0
    this.#records = 0
    const files = readdirSync(this.#folder).flatMap((name) => {
      if (!deadLetterFile.test(name.replace(/\.acks$/, '.ndjson'))) return []
      const path = join(this.#folder, name)
      const facts = lstatSync(path, { throwIfNoEntry: false })
      return facts?.isFile() === true ? [{ path, bytes: facts.size, at: facts.mtimeMs }] : []
    })
    files.sort((a, b) => a.at - b.at)
    let bytes = files.reduce((sum, file) => sum + file.bytes, this.#fileBytes)
    let fault: unknown
    for (const file of files) {
      if (bytes <= this.#plan.maxBytes) break
      try {
        unlinkSync(file.path)
      } catch (error) {
        // Another engine may have been quicker.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') fault ??= error
      }
      bytes -= file.bytes
    }
    return fault
  }
}
