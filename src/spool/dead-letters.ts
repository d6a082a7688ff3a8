import { join } from 'node:path'
import type { Files } from '../runtime/files.js'
import { append } from './append.js'
import { isOurFolder, makeFolder } from './spool-folder.js'
import { lineMiddle, type SpoolLine, spoolLine } from './spool-line.js'

/** The name of their folder in the folder of the spool. */
export const deadLetterFolder = 'dead-letter'
/** The name of a file of dead letters; with `.replay-` in it, of one that `sluice replay` has set aside. */
export const deadLetterFile = /^\d+-[0-9a-z]+-[0-9a-z]+-\d{6,}(?:\.replay-[0-9a-f]{8})?\.ndjson$/

/** No file grows much larger than this, however large the bound. */
const maxFileBytes = 8_388_608

/** A rejected record. */
export type DeadLetter = Omit<SpoolLine, 'number' | 'refusal'> & { readonly refusal: NonNullable<SpoolLine['refusal']> }

export interface DeadLettersPlan {
  /** The folder of the spool. */
  readonly dir: string
  readonly maxBytes: number
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
  readonly random: () => number
  readonly files: Files
  /** A folder in the spool that this engine has made. Throws what the file system does. */
  readonly home: () => string
}

/**
 * Rejected records with the reasons, in files for people and for `sluice replay`: no engine reads them. The bound holds for all engines of
 * a spool together. Beyond it, the oldest files are removed.
 */
export class DeadLetters {
  readonly #folder: string
  readonly #plan: DeadLettersPlan
  readonly #fileBytes: number
  /** Part of the names of this engine's files: process, time and a random number. */
  readonly #id: string
  #letters: DeadLetter[] = []
  #number = 0
  /** Bytes of the current file. The next file begins at a sixteenth of the bound. */
  #bytes = Number.POSITIVE_INFINITY
  /** Lines of the current file. */
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

  /** Write the letters that were added. Throws what the file system does; letters that could not be written are lost. */
  commit(): void {
    if (this.#letters.length === 0) return
    const letters = this.#letters
    this.#letters = []
    const fault = this.#bytes > this.#fileBytes ? this.#begin() : undefined
    const lines = letters.map((letter) => deadLetterLine(letter, this.#records++))
    const text = lines.join('\n')
    this.#bytes += Buffer.byteLength(text) + 1
    const name = `${this.#id}-${String(this.#number).padStart(6, '0')}.ndjson`
    // The file is opened by name each time, because `sluice replay` may have renamed it, or removed the folder with the last letter.
    const { files } = this.#plan
    try {
      append(join(this.#folder, name), { lines: text, files })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      makeFolder(this.#folder, files)
      append(join(this.#folder, name), { lines: text, files })
    }
    if (fault !== undefined) throw fault
  }

  /** Begin another file, and remove the oldest to make room, but only files that Sluice has named. Returns the error of a removal. */
  #begin(): unknown {
    const { files, maxBytes } = this.#plan
    makeFolder(this.#folder, files)
    if (!isOurFolder(this.#folder, this.#plan)) {
      throw new Error(`${deadLetterFolder} is not a folder that only this user can write: move it away`)
    }
    this.#number++
    this.#bytes = 0
    this.#records = 0
    const letters = files.readdirSync(this.#folder).flatMap((name) => {
      if (!deadLetterFile.test(name.replace(/\.acks$/, '.ndjson'))) return []
      const path = join(this.#folder, name)
      const facts = files.lstatSync(path, { throwIfNoEntry: false })
      return facts?.isFile() === true ? [{ path, bytes: facts.size, at: facts.mtimeMs }] : []
    })
    letters.sort((a, b) => a.at - b.at)
    let bytes = letters.reduce((sum, file) => sum + file.bytes, this.#fileBytes)
    let fault: unknown
    for (const file of letters) {
      if (bytes <= maxBytes) break
      try {
        files.unlinkSync(file.path)
      } catch (error) {
        // Another engine was quicker.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') fault ??= error
      }
      bytes -= file.bytes
    }
    return fault
  }
}

/** The line of a rejected record, without its line end. @param number counts the lines of a file from 0 */
function deadLetterLine(letter: DeadLetter, number: number): string {
  return spoolLine({ ...letter, number }, { middle: lineMiddle(letter), refusal: letter.refusal })
}
