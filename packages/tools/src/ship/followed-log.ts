import { type FileHandle, open, stat } from 'node:fs/promises'
import { pathFault } from '../../../../src/errors/text-of.js'
import { pause } from '../../../../src/http/requester.js'
import type { Clock } from '../../../../src/runtime/clock.js'
import { type Line, LineSplitter } from '../line-splitter.js'
import { factsOf, pieceBytes } from './input.js'

export interface FollowPlan {
  readonly path: string
  /** Begin at the end of the file that exists now. */
  readonly fromEnd: boolean
  readonly clock: Clock
  readonly say: (text: string) => void
  /** Take a line. False when it was not taken. */
  readonly take: (line: Line) => Promise<boolean>
  /** Ends the following. */
  readonly signal: AbortSignal
}

/** Time between two looks for new lines. */
const lookMs = 250
/** A program may write to a log for a while after a rename. The file is closed this long after its last line. */
const lingerMs = 5000

/**
 * Reads a log as it grows. When another file takes its name, it reads both: the rest of the old file and the new one. When the file is
 * truncated, it begins again at the start. It waits for the rest of an unfinished line, and for a missing file.
 */
export class FollowedLog {
  readonly #plan: FollowPlan
  #log: OpenLog | undefined
  /** Files that have lost the name. */
  readonly #former = new Map<OpenLog, { lastAt: number }>()
  #trouble: string | undefined
  #first = true

  constructor(plan: FollowPlan) {
    this.#plan = plan
  }

  /** Resolves after `signal`. Never rejects. */
  async run(): Promise<void> {
    const { clock, signal } = this.#plan
    while (!signal.aborted) {
      await this.#look().catch((error) => this.#report(pathFault(error, this.#plan)))
      await pause(clock, { ms: lookMs, signal }).catch(() => {})
    }
    for (const log of this.#open()) await this.#finish(log)
  }

  async #look(): Promise<void> {
    const { path, clock, fromEnd } = this.#plan
    const facts = await stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      return undefined
    })
    const identity = facts === undefined ? undefined : identityOf(facts)
    if (this.#log !== undefined && identity !== this.#log.identity) {
      this.#former.set(this.#log, { lastAt: clock.now() })
      this.#log = undefined
    }
    if (this.#log === undefined && identity !== undefined) {
      const back = [...this.#former.keys()].find((log) => log.identity === identity)
      if (back === undefined) await factsOf(path)
      else this.#former.delete(back)
      this.#log = back ?? (await OpenLog.open(path, { fromEnd: fromEnd && this.#first }))
      if (this.#trouble !== undefined) this.#plan.say(`${path}: is there now`)
      this.#trouble = undefined
    } else if (identity === undefined && this.#first) this.#report(`there is no such file yet: ${path}`)
    this.#first = false
    for (const log of this.#open()) await this.#read(log)
  }

  /** Open files, the oldest first. */
  #open(): OpenLog[] {
    return [...this.#former.keys(), ...(this.#log === undefined ? [] : [this.#log])]
  }

  async #read(log: OpenLog): Promise<void> {
    const { clock, take, signal } = this.#plan
    const former = this.#former.get(log)
    for await (const line of log.lines()) {
      if (former !== undefined) former.lastAt = clock.now()
      if (signal.aborted || !(await take(line))) return
    }
    if (former !== undefined && clock.now() - former.lastAt >= lingerMs) await this.#finish(log)
  }

  async #finish(log: OpenLog): Promise<void> {
    this.#former.delete(log)
    const rest = log.rest()
    if (rest !== undefined) await this.#plan.take(rest)
    await log.close()
  }

  /** Print the same trouble once. */
  #report(trouble: string): void {
    if (this.#trouble !== trouble) this.#plan.say(`${trouble}; waits for it`)
    this.#trouble = trouble
  }
}

/** The last bytes that were read: they show that the file is still the same. */
const witnessBytes = 64

/** An open log and the place up to which it is read. It stays the same file when its name goes to another one. */
class OpenLog {
  /** Identifies the file, whatever its name. */
  readonly identity: string
  readonly #handle: FileHandle
  #splitter = new LineSplitter()
  #position = 0
  #witness: Buffer = Buffer.alloc(0)

  private constructor(handle: FileHandle, identity: string) {
    this.#handle = handle
    this.identity = identity
  }

  /**
   * Rejects with the error of the file system.
   *
   * @param fromEnd read only what is written from now on
   */
  static async open(path: string, { fromEnd }: { readonly fromEnd: boolean }): Promise<OpenLog> {
    const handle = await open(path, 'r')
    const facts = await handle.stat({ bigint: true })
    const log = new OpenLog(handle, identityOf(facts))
    if (fromEnd) await log.#skipTo(Number(facts.size))
    return log
  }

  /** The lines that are new since the last call. Pieces of the file that were not asked for come with the next call. */
  async *lines(): AsyncGenerator<Line> {
    for (;;) {
      const before = this.#witness
      const bytes = await this.#readAt(this.#position - before.length, before.length + pieceBytes)
      if (!bytes.subarray(0, before.length).equals(before)) {
        // The file was truncated (`copytruncate`). It may have grown beyond the old place since.
        const rest = this.#splitter.end()
        this.#splitter = new LineSplitter()
        this.#position = 0
        this.#witness = Buffer.alloc(0)
        if (rest !== undefined) yield rest
        continue
      }
      const piece = bytes.subarray(before.length)
      if (piece.length === 0) return
      this.#position += piece.length
      this.#witness = Buffer.from(bytes.subarray(-witnessBytes))
      yield* this.#splitter.push(piece)
    }
  }

  /** The unfinished last line, if there is one. */
  rest(): Line | undefined {
    return this.#splitter.end()
  }

  async close(): Promise<void> {
    await this.#handle.close().catch(() => {})
  }

  async #skipTo(position: number): Promise<void> {
    const length = Math.min(witnessBytes, position)
    this.#witness = await this.#readAt(position - length, length)
    this.#position = position - length + this.#witness.length
  }

  async #readAt(position: number, length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(length)
    const { bytesRead } = await this.#handle.read(buffer, 0, length, position)
    return buffer.subarray(0, bytesRead)
  }
}

/** The number of a file on its device. */
function identityOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`
}
