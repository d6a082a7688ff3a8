import { setTimeout } from 'node:timers/promises'
import { CommitListeners } from '../commit-listeners.js'
import { GroupCommit } from '../group-commit.js'
import type { CommitListener, NewRecord, RecordStorage } from '../record-storage.js'
import { RepeatedAttempts } from '../repeated-attempts.js'
import { StoreUnavailableError } from '../store-unavailable.js'
import { existsAlready, isLocked, lacksPartition } from './database-errors.js'
import type { Days } from './days.js'
import { RecordWriter } from './record-writer.js'
import { recordCommits } from './servers.js'
import type { Transactions } from './transactions.js'
import type { WriterSlot } from './writer-slot.js'

/** Most records of a commit: several commits of this size run side by side and are faster than one large one, which delays the answers of all its records. */
const maxRecords = 300
/** Most characters of the records of a commit: on their way to the database they stand in memory several times. */
const maxCharacters = 2_000_000
/** A group waits this long for keys that other transactions have locked, and a record that goes alone, in ms. */
const lockMs = { ofGroups: 500, ofOne: 10 } as const
/** A record whose key is locked is tried again: how often, and for how long in ms. Another receiver may be slow. */
const lockedMs = { pause: 100, longest: 4500 } as const
/** Keys that are known to be locked are forgotten when there are this many. */
const maxLocked = 10_000

/** Writes log and value records in groups. */
export class RecordAppends {
  readonly #transactions: Transactions
  readonly #days: Days
  readonly #slot: WriterSlot
  readonly #writer: RecordWriter
  readonly #listeners = new CommitListeners()
  readonly #repeated = new RepeatedAttempts()
  readonly #commits: GroupCommit<NewRecord>
  /** Takes the records of a group that has waited too long: those whose key is locked fail, and no others. */
  readonly #alone: GroupCommit<NewRecord>
  /** Keys that were locked when they went alone. They go alone until they are stored, so that no group waits for them. */
  readonly #locked = new Set<string>()

  constructor({
    transactions,
    days,
    slot,
  }: {
    readonly transactions: Transactions
    readonly days: Days
    readonly slot: WriterSlot
  }) {
    this.#transactions = transactions
    this.#days = days
    this.#slot = slot
    this.#writer = new RecordWriter({ nowMs: () => slot.nowMs(), takeId: () => slot.takeId() })
    this.#commits = new GroupCommit((records) => this.#commit(records, lockMs.ofGroups), {
      maxCommits: recordCommits.ofGroups,
      maxItems: maxRecords,
      sizeOf: charactersOf,
      maxSize: maxCharacters,
    })
    this.#alone = new GroupCommit((records) => this.#commit(records, lockMs.ofOne), {
      maxCommits: recordCommits.ofOne,
      maxItems: 1,
    })
  }

  async append(record: NewRecord): Promise<void> {
    if (this.#locked.size > 0 && this.#locked.has(nameOf(record))) return this.#appendAlone(record)
    try {
      await this.#commits.add(record)
    } catch (error) {
      if (!waitedForLock(error)) throw error
      await this.#appendAlone(record)
    }
  }

  repeated(bucket: string): ReturnType<RecordStorage['repeated']> {
    return this.#repeated.of(bucket)
  }

  onCommit(listener: CommitListener): () => void {
    return this.#listeners.add(listener)
  }

  /** Resolves when no record waits for its commit. */
  async settled(): Promise<void> {
    await this.#commits.settled()
    await this.#alone.settled()
  }

  async #appendAlone(record: NewRecord): Promise<void> {
    const name = nameOf(record)
    const end = performance.now() + lockedMs.longest
    while (!(await this.#isStoredAlone(record, { isLast: performance.now() > end }))) {
      if (this.#locked.size >= maxLocked) this.#locked.clear()
      if (record.idempotencyKey !== undefined) this.#locked.add(name)
      await setTimeout(lockedMs.pause)
    }
    this.#locked.delete(name)
  }

  /** False if its key is locked. @throws then too, if nothing follows */
  async #isStoredAlone(record: NewRecord, { isLast }: { readonly isLast: boolean }): Promise<boolean> {
    try {
      await this.#alone.add(record)
      return true
    } catch (cause) {
      if (!waitedForLock(cause)) throw cause
      if (!isLast) return false
      const message = 'another receiver stores a record with the same key, or changes the tables'
      throw new StoreUnavailableError(message, { cause })
    }
  }

  async #commit(records: readonly NewRecord[], lockMs: number): Promise<void> {
    const sinceMs = performance.now()
    const repeated = await this.#written(records, lockMs)
    this.#repeated.add(repeated)
    this.#listeners.committed(records, { repeated, sinceMs })
  }

  async #written(records: readonly NewRecord[], lockMs: number) {
    const write = () =>
      this.#transactions.run((client) => this.#writer.write(client, { records, writer: this.#slot.writerOf(client) }), {
        lockMs,
      })
    try {
      return await write()
    } catch (error) {
      if (lacksPartition(error)) await this.#days.prepare(this.#slot.nowMs())
      // This process was frozen for long: another process has its slot, and has made the same ids.
      else if (existsAlready(error)) await this.#slot.renew()
      else throw error
      return write()
    }
  }
}

function nameOf({ kind, bucket, idempotencyKey }: NewRecord): string {
  return `${kind} ${bucket} ${idempotencyKey}`
}

function waitedForLock(error: unknown): boolean {
  return error instanceof StoreUnavailableError && isLocked(error.cause)
}

function charactersOf({ record }: NewRecord): number {
  let characters = 0
  for (const value of Object.values(record)) if (typeof value === 'string') characters += value.length
  return characters
}
