import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { write } from '../../../../src/spool/append.js'
import { bootOfMachine } from '../../../../src/spool/owner.js'
import { type Line, passingLinesOfFile } from '../line-splitter.js'
import { ArrivedLines, digestOf, LineSet } from './arrived-lines.js'

/** The place that gets the entries of a migration. */
export interface Destination {
  readonly url: string
  readonly project: string
  readonly type: string
}

/** A journal that cannot be used. The message says why. */
export class JournalError extends Error {}

/** A line of the file, after the head. */
type Note =
  | { readonly line: number; readonly sent: true }
  | { readonly line: number; readonly id: string | null; readonly digest: string }
  /** It certainly has not arrived. */
  | { readonly line: number; readonly not: string }
  | Range

/** Lines that may be sent after this note, until the machine is restarted. */
interface Range {
  readonly from: number
  readonly to: number
  readonly boot: string
}

interface Head extends Destination {
  readonly journal: 'sluice migrate 1'
  readonly id: string
}

/** Lines that are announced ahead. */
const rangeLines = 1024

/**
 * The outcome of each line, in a file. It is written before a line is sent, and again at the answer. However the process ends, the next run
 * knows which lines were sent and have no answer.
 *
 * A crash of the machine loses what is not synced to the disk. Syncing for each line would be slow, so ranges of lines are announced and
 * synced ahead. After a restart of the machine, every line of the last ranges counts as sent unless it has arrived.
 */
export class Journal {
  readonly arrived = new ArrivedLines()
  /** Lines that were sent, with an unknown result. */
  readonly unanswered = new LineSet()
  readonly #path: string
  readonly #destination: Destination
  #id = ''
  /** A message that this is the journal of another destination. */
  #elsewhere: string | undefined
  #file: FileHandle | undefined
  /** The last line that this run has announced and synced. */
  #announced = 0
  #announcing: Promise<void> | undefined
  #ranges: Range[] = []
  #failure: { readonly error: unknown } | undefined

  private constructor(path: string, destination: Destination) {
    this.#path = path
    this.#destination = destination
  }

  /**
   * Read the journal, or begin a new one.
   *
   * @throws {JournalError} when it is the journal of another migration, damaged, or not a file
   */
  static async open(path: string, destination: Destination): Promise<Journal> {
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() ?? true
    if (!isFile) throw new JournalError(`${path} is no file, so the journal cannot be written: move it away`)
    const journal = new Journal(path, destination)
    const length = await journal.#read()
    journal.#file = await open(path, 'a')
    try {
      // A crash may leave an unfinished line.
      await journal.#file.truncate(length)
      if (length > 0) journal.#suspect()
      // When no line may have arrived, the first destination was a mistake.
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

  /** The same in every run, as long as the line has the same text. */
  idempotencyKey(line: Line): string {
    return `${this.#id}-${line.number}-${digestOf(line)}`
  }

  /** Resolves when the line may be sent. Lines must come in order. */
  async sending({ number }: Line): Promise<void> {
    while (number > this.#announced) await this.#announce(number)
    // Announce early, so that no line waits for the disk.
    if (number > this.#announced - rangeLines / 2) this.#announce(number).catch(() => {})
    if (!this.unanswered.has(number)) this.#note({ line: number, sent: true })
  }

  /** The service has created the entry. The id is null when it could not be read. */
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
    this.#announcing ??= this.#sync(line).finally(() => {
      this.#announcing = undefined
    })
    return this.#announcing
  }

  async #sync(line: number): Promise<void> {
    // The lines between were never sent, or are on the disk as sent.
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

  /** @throws the first error of writing, at every later call, too: a note after half a line could not be read */
  #append(note: Head | Note): void {
    if (this.#failure !== undefined) throw this.#failure.error
    const { error } = write(this.#file!.fd, { bytes: Buffer.from(`${JSON.stringify(note)}\n`) })
    if (error === undefined) return
    this.#failure = { error }
    throw error
  }

  #apply(note: Note): void {
    if ('from' in note) {
      // Each range syncs the notes before it, except those written meanwhile. So the last two ranges are uncertain.
      this.#ranges = [...this.#ranges, note].slice(-2)
    } else if ('sent' in note) this.unanswered.add(note.line)
    else {
      this.unanswered.delete(note.line)
      if ('id' in note) this.arrived.add(note.line, note.digest)
    }
  }

  /** After a restart of the machine, count the lines of the last ranges as sent unless they have arrived. */
  #suspect(): void {
    const last = this.#ranges.at(-1)
    if (last === undefined || last.boot === bootOfMachine()) return
    const [before = last] = this.#ranges
    const from = before.to + 1 === last.from ? before.from : last.from
    for (let line = from; line <= last.to; line++) {
      if (!this.arrived.has(line) && !this.unanswered.has(line)) this.#note({ line, sent: true })
    }
  }

  /** Returns the bytes of the journal up to its last finished line. 0 when there is no journal. */
  async #read(): Promise<number> {
    let length = 0
    try {
      for await (const line of passingLinesOfFile(this.#path)) {
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
      throw new JournalError(`${this.#path} is not a journal of sluice-tools migrate`)
    }
    for (const name of ['url', 'project', 'type'] as const) {
      const [was, is] = [head[name], this.#destination[name]]
      if (was === is) continue
      const words = `${this.#path} is the journal of a migration to the ${name} ${was}, not ${is}`
      this.#elsewhere ??= `${words}; to begin a new migration, move the journal away`
    }
    this.#id = head.id
  }

  #readNote({ number, bytes }: Line): void {
    const note = readJson(bytes) as Note | undefined
    if (note === undefined || !('from' in note ? isRange(note) : isLine(note.line))) {
      throw new JournalError(`${this.#path} is damaged at its line ${number}: it is not known which lines have arrived`)
    }
    this.#apply(note)
  }
}

/** A file of more lines cannot be migrated line by line. The bound keeps the bitmap of a damaged journal small. */
const maxLines = 2 ** 32

function isLine(number: number): boolean {
  return Number.isInteger(number) && number >= 1 && number <= maxLines
}

/** At most as long as this program writes it, because every line of a range is looked at. */
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
