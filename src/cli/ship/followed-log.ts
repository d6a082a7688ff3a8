import { type FileHandle, open, stat } from 'node:fs/promises'
import { pause } from '../../http/requester.js'
import type { Clock } from '../../runtime/clock.js'
import { factsOf, pieceBytes, unreadableWords } from './input.js'
import { LineSplitter, type RawLine } from './line-splitter.js'

export interface FollowPlan {
  readonly path: string
  /** Begin at the end of the file that is there now. */
  readonly fromEnd: boolean
  readonly clock: Clock
  readonly say: (text: string) => void
  /** Takes a line; false when it does not, and no further one. */
  readonly take: (line: RawLine) => Promise<boolean>
  /** Ends it. */
  readonly signal: AbortSignal
}

/** How often it looks for what is new. */
const lookMs = 250
/** A program may write on to a log for a while after that was renamed: so long after its last line it is closed. */
const lingerMs = 5000

/**
 * Reads a log as it grows, and whatever takes its name later: a new file in the place of one that was renamed or deleted, of which the
 * rest is read, too; and the same file when it was cut. The rest of a line is waited for. A file that is not there is waited for.
 */
export class FollowedLog {
  readonly #plan: FollowPlan
  #log: OpenLog | undefined
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
      await this.#look().catch((error) => this.#tell(unreadableWords(error)))
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
    } else if (identity === undefined && this.#first) this.#tell('there is no such file yet')
    this.#first = false
    for (const log of this.#open()) await this.#read(log)
  }

  /** Files that have lost the name first. */
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

  /** Once for as long as it lasts. */
  #tell(trouble: string): void {
    if (this.#trouble !== trouble) this.#plan.say(`${this.#plan.path}: ${trouble}; it is waited for`)
    this.#trouble = trouble
  }
}

/** So many bytes before the place up to which a file was read show whether it is still the same. */
const witnessBytes = 64

/** A log that is open, and how far it was read. It stays what it is when its name goes to another file. */
export class OpenLog {
  /** Which file it is, whatever it is called. */
  readonly identity: string
  readonly #handle: FileHandle
  #splitter = new LineSplitter()
  #position: number
  #witness: Buffer = Buffer.alloc(0)
  #changedAt = 0

  private constructor(handle: FileHandle, { identity, position }: { identity: string; position: number }) {
    this.#handle = handle
    this.identity = identity
    this.#position = position
  }

  /**
   * Rejects with what the file system says.
   *
   * @param fromEnd only what is written from now on
   */
  static async open(path: string, { fromEnd }: { readonly fromEnd: boolean }): Promise<OpenLog> {
    const handle = await open(path, 'r')
    const facts = await handle.stat({ bigint: true })
    const log = new OpenLog(handle, { identity: identityOf(facts), position: fromEnd ? Number(facts.size) : 0 })
    await log.#keepWitness()
    return log
  }

  /** What has come since the last time. The place moves on with each piece, so that what is not asked for is not passed over. */
  async *lines(): AsyncGenerator<RawLine> {
    if (await this.#beganAnew()) {
      const rest = this.#splitter.end()
      this.#splitter = new LineSplitter()
      this.#position = 0
      if (rest !== undefined) yield rest
    }
    for (;;) {
      const piece = Buffer.allocUnsafe(pieceBytes)
      const { bytesRead } = await this.#handle.read(piece, 0, pieceBytes, this.#position)
      if (bytesRead === 0) break
      this.#position += bytesRead
      yield* this.#splitter.push(piece.subarray(0, bytesRead))
    }
    await this.#keepWitness()
  }

  /** The line that was never ended, if there is one. */
  rest(): RawLine | undefined {
    return this.#splitter.end()
  }

  async close(): Promise<void> {
    await this.#handle.close().catch(() => {})
  }

  /** It was cut (`copytruncate`), and perhaps written again beyond the old place since. */
  async #beganAnew(): Promise<boolean> {
    const { size, mtimeMs } = await this.#handle.stat()
    if (size < this.#position) return true
    if (mtimeMs === this.#changedAt) return false
    this.#changedAt = mtimeMs
    const { length } = this.#witness
    const now = Buffer.alloc(length)
    const { bytesRead } = await this.#handle.read(now, 0, length, this.#position - length)
    return !now.subarray(0, bytesRead).equals(this.#witness)
  }

  async #keepWitness(): Promise<void> {
    const length = Math.min(witnessBytes, this.#position)
    const bytes = Buffer.alloc(length)
    const { bytesRead } = await this.#handle.read(bytes, 0, length, this.#position - length)
    this.#witness = bytes.subarray(0, bytesRead)
  }
}

/** Which file it is: its number on its device. */
export function identityOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`
}
