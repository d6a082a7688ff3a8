import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { write } from '../../spool/append.js'
import { bootOfMachine } from '../../spool/owner.js'
import { ArrivedLines, digestOf, LineSet } from './arrived-lines.js'
import { type Line, readLines } from './line-reader.js'

/** Where the entries of a journal went. */
export interface Destination {
  readonly url: string
  readonly project: string
  readonly type: string
}

/** A journal that cannot be used, with the words that say why. */
export class JournalError extends Error {}

/** What stands in the file, one a line, after the head. */
type Note =
  | { readonly line: number; readonly sent: true }
  | { readonly line: number; readonly id: string | null; readonly digest: string }
  /** It has not arrived, for sure. */
  | { readonly line: number; readonly not: string }
  | Range

/** Lines that may be sent from now on, while the machine is up that it names. */
interface Range {
  readonly from: number
  readonly to: number
  readonly boot: string
}

interface Head extends Destination {
  readonly journal: 'sluice migrate 1'
  readonly id: string
}

/** Lines of a range. */
const rangeLines = 1024

/**
 * What has become of each line, in a file. Before a line is sent this is written, and what came of it at once: so when the process
 * ends, however it ends, a line that was sent and has no answer is known to be so. For the end of the machine, which takes with it what
 * has not been forced to the disk, ranges of lines are announced, and forced, ahead: then every line of the last ranges that has not
 * arrived for certain counts as sent. To force each line would hold every entry up for the disk.
 */
export class Journal {
  readonly arrived = new ArrivedLines()
  /** Lines that were sent and of which nothing is known. */
  readonly unanswered = new LineSet()
  readonly #path: string
  readonly #destination: Destination
  #id = ''
  /** In words, that it is the journal of another destination. */
  #elsewhere: string | undefined
  #file: FileHandle | undefined
  /** The last line of the ranges of this run that are on the disk. */
  #announced = 0
  #announcing: Promise<void> | undefined
  #ranges: Range[] = []
  #failure: { readonly error: unknown } | undefined

  private constructor(path: string, destination: Destination) {
    this.#path = path
    this.#destination = destination
  }

  /**
   * Read the journal, or begin one.
   *
   * @throws {JournalError} when it is of another migration, damaged, or no file
   */
  static async open(path: string, destination: Destination): Promise<Journal> {
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() ?? true
    if (!isFile) throw new JournalError(`${path} is no file, and would be the journal: move it away`)
    const journal = new Journal(path, destination)
    const length = await journal.#read()
    journal.#file = await open(path, 'a')
    try {
      // What a crash has left half written says nothing.
      await journal.#file.truncate(length)
      if (length > 0) journal.#suspect()
      // Where nothing came of it, its destination was a mistake.
      const isBlank = journal.arrived.size === 0 && journal.unanswered.size === 0
      const elsewhere = journal.#elsewhere
      if (length === 0 || (elsewhere !== undefined && isBlank)) await journal.#begin()
      else if (elsewhere !== undefined) throw new JournalError(elsewhere)
    } catch (error) {
      await journal.close()
      throw error
    }
    return journal
  }

  /** The same for a line that says the same, in every run of the migration. */
  idempotencyKey(line: Line): string {
    return `${this.#id}-${line.number}-${digestOf(line)}`
  }

  /** Resolves when the line may be sent. Lines must come in their order. */
  async sending({ number }: Line): Promise<void> {
    while (number > this.#announced) await this.#announce(number)
    // Ahead, so that nobody waits for it.
    if (number > this.#announced - rangeLines / 2) this.#announce(number).catch(() => {})
    if (!this.unanswered.has(number)) this.#note({ line: number, sent: true })
  }

  /** The service has made the entry; its id is null when that was not readable. */
  hasArrived(line: Line, id: string | null): void {
    this.#note({ line: line.number, id, digest: digestOf(line) })
  }

  hasNotArrived({ number }: Line, reason: string): void {
    this.#note({ line: number, not: reason })
  }

  async close(): Promise<void> {
    await this.#announcing?.catch(() => {})
    await this.#file?.close()
    this.#file = undefined
  }

  async #begin(): Promise<void> {
    this.#id = randomUUID()
    this.#ranges = []
    await this.#file?.truncate(0)
    const head: Head = { journal: 'sluice migrate 1', id: this.#id, ...this.#destination }
    this.#append(head)
  }

  #announce(line: number): Promise<void> {
    this.#announcing ??= this.#force(line).finally(() => {
      this.#announcing = undefined
    })
    return this.#announcing
  }

  async #force(line: number): Promise<void> {
    // What lies between was never sent, or is on the disk by now as sent.
    const from = Math.max(line, this.#announced + 1)
    const to = Math.max(line, this.#announced) + rangeLines
    this.#append({ from, to, boot: bootOfMachine() })
    await this.#file?.datasync()
    this.#announced = to
  }

  #note(note: Exclude<Note, Range>): void {
    this.#append(note)
    this.#apply(note)
  }

  /** @throws what kept it from being written, then and ever after: what follows half a line could not be read */
  #append(note: Head | Note): void {
    if (this.#failure !== undefined) throw this.#failure.error
    const { error } = write(this.#file!.fd, Buffer.from(`${JSON.stringify(note)}\n`))
    if (error === undefined) return
    this.#failure = { error }
    throw error
  }

  #apply(note: Note): void {
    if ('from' in note) {
      // Every range forces what was written before it, but for what was on its way.
      this.#ranges = [...this.#ranges, note].slice(-2)
    } else if ('sent' in note) this.unanswered.add(note.line)
    else {
      this.unanswered.delete(note.line)
      if ('id' in note) this.arrived.add(note.line, note.digest)
    }
  }

  /** After an end of the machine nothing is certain of the last ranges but what has arrived. */
  #suspect(): void {
    const last = this.#ranges.at(-1)
    if (last === undefined || last.boot === bootOfMachine()) return
    const [before = last] = this.#ranges
    const from = before.to + 1 === last.from ? before.from : last.from
    for (let line = from; line <= last.to; line++) {
      if (!this.arrived.has(line) && !this.unanswered.has(line)) this.#note({ line, sent: true })
    }
  }

  /** Bytes of the journal that can be relied on; 0 when there is none. */
  async #read(): Promise<number> {
    let length = 0
    try {
      for await (const line of readLines(this.#path)) {
        if (!line.ended) break
        if (line.number === 1) this.#readHead(line)
        else this.#readNote(line)
        length += line.size
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
    return length
  }

  #readHead({ bytes }: Line): void {
    const head = readJson(bytes) as Partial<Head> | undefined
    if (head?.journal !== 'sluice migrate 1' || typeof head.id !== 'string') {
      throw new JournalError(`${this.#path} is not a journal of sluice migrate`)
    }
    for (const name of ['url', 'project', 'type'] as const) {
      const [was, is] = [head[name], this.#destination[name]]
      if (was === is) continue
      const words = `${this.#path} is the journal of a migration to the ${name} ${was}, not ${is}`
      this.#elsewhere ??= `${words}; to begin another one, move the journal away`
    }
    this.#id = head.id
  }

  #readNote({ number, bytes }: Line): void {
    const note = readJson(bytes) as Note | undefined
    if (note === undefined || !('from' in note ? isRange(note) : isLine(note.line))) {
      throw new JournalError(`${this.#path} is damaged at its line ${number}: what has arrived is not known`)
    }
    this.#apply(note)
  }
}

function isLine(number: number): boolean {
  return Number.isSafeInteger(number) && number >= 1
}

/** No longer than this program writes one: each of its lines may have to be looked at. */
function isRange({ from, to }: Range): boolean {
  return isLine(from) && isLine(to) && to - from <= rangeLines
}

function readJson(bytes: Buffer): object | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
