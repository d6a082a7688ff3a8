import { renameSync } from 'node:fs'
import { basename } from 'node:path'
import { nodeFiles } from '../../runtime/files.js'
import { deadLetterFile } from '../../spool/dead-letters.js'
import { RecordFile } from '../../spool/record-file.js'
import { readDeadLetter, readSpoolLine, type SpoolLine } from '../../spool/spool-line.js'

/** Bytes that are read at once, at most, unless a line is longer. */
const readBytes = 1_048_576

/** A file of a spool, or of dead letters, whose records are to be sent. Only the numbers of the records are in memory. */
export class SentFile {
  readonly path: string
  /** Places in it where bytes are no record. */
  readonly damaged: number
  readonly #file: RecordFile
  readonly #read: (line: Buffer) => SpoolLine | undefined
  /** Numbers of the records to be sent. The records before `next` are taken. */
  readonly #numbers: number[] = []
  #next = 0
  /** Records that are not settled, also the ones that are not to be sent. */
  #left: number

  /**
   * Throws when it cannot be read.
   *
   * @param chosen called with each record that is not settled; true for one that is to be sent
   */
  constructor(path: string, chosen: (line: SpoolLine, bytes: number) => boolean) {
    this.path = path
    // A person may have corrected a dead letter.
    this.#read = deadLetterFile.test(basename(path)) ? readDeadLetter : readSpoolLine
    this.#file = new RecordFile(path, { from: 0, files: nodeFiles })
    const { lines, damaged } = this.#file.recover(() => true, this.#read)
    this.damaged = damaged
    this.#left = lines.length
    for (const { line, length } of lines) if (chosen(line, length)) this.#numbers.push(line.number)
  }

  get allTaken(): boolean {
    return this.#next === this.#numbers.length
  }

  /** True when no record is left in it. */
  get isSettled(): boolean {
    return this.#left === 0
  }

  /** Take the next records, `wanted` at most. Throws the errors of the file system. Records that are gone or damaged by now are left out. */
  take(wanted: number): SpoolLine[] {
    const from = this.#next
    const start = this.#file.startOf(this.#numbers[from]!)
    let to = from + 1
    const isNear = (number: number) => this.#file.endOf(number) - start <= readBytes
    while (to < this.#numbers.length && to - from < wanted && isNear(this.#numbers[to]!)) to++
    this.#next = to
    return this.#linesAt(this.#numbers.slice(from, to))
  }

  /** Undefined when it is gone. Throws other errors of the file system. */
  lineAt(number: number): SpoolLine | undefined {
    return this.#linesAt([number])[0]
  }

  bytesOf(number: number): number {
    return this.#file.endOf(number) - this.#file.startOf(number)
  }

  delivered(number: number): void {
    this.#left--
    this.#file.settled(number, 1)
  }

  /** Record on disk which records are delivered, and remove it if it is done. Throws the errors of the file system. */
  acknowledge(): void {
    this.#file.acknowledge()
    // A record may have been added at the last moment.
    if (!this.isSettled || this.#file.hasGrown()) return
    if (this.damaged > 0) renameSync(this.path, `${this.path}.damaged`)
    const fault = this.#file.remove()
    if (fault !== undefined) throw fault
  }

  #linesAt(numbers: readonly number[]): SpoolLine[] {
    const start = this.#file.startOf(numbers[0]!)
    const bytes = Buffer.allocUnsafe(this.#file.endOf(numbers.at(-1)!) - start)
    if (!this.#file.read(start, bytes)) return []
    return numbers.flatMap((number) => {
      const line = this.#read(bytes.subarray(this.#file.startOf(number) - start, this.#file.endOf(number) - start))
      return line?.number === number ? [line] : []
    })
  }
}
