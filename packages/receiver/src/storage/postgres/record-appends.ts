import { type CommitListener, CommitListeners } from '../commit-listeners.js'
import { GroupCommit } from '../group-commit.js'
import type { NewRecord, RecordStorage } from '../record-storage.js'
import { RepeatedAttempts } from '../repeated-attempts.js'
import { existsAlready, lacksPartition } from './database-errors.js'
import type { Days } from './days.js'
import { RecordWriter } from './record-writer.js'
import { recordCommits } from './servers.js'
import type { Transactions } from './transactions.js'
import type { WriterSlot } from './writer-slot.js'

/** Most records of a commit: a group that takes long delays the answers of all its records. */
const maxRecords = 1000
/** Most characters of the records of a commit: on their way to the database they stand in memory several times. */
const maxCharacters = 2_000_000

/** Writes log and value records in groups. */
export class RecordAppends {
  readonly #transactions: Transactions
  readonly #days: Days
  readonly #slot: WriterSlot
  readonly #writer: RecordWriter
  readonly #listeners = new CommitListeners()
  readonly #repeated = new RepeatedAttempts()
  readonly #commits: GroupCommit<NewRecord>

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
    this.#commits = new GroupCommit((records) => this.#commit(records), {
      maxCommits: recordCommits,
      maxItems: maxRecords,
      sizeOf: charactersOf,
      maxSize: maxCharacters,
    })
  }

  append(record: NewRecord): Promise<void> {
    return this.#commits.add(record)
  }

  repeated(bucket: string): ReturnType<RecordStorage['repeated']> {
    return this.#repeated.of(bucket)
  }

  onCommit(listener: CommitListener): () => void {
    return this.#listeners.add(listener)
  }

  /** Resolves when no record waits for its commit. */
  settled(): Promise<void> {
    return this.#commits.settled()
  }

  async #commit(records: readonly NewRecord[]): Promise<void> {
    const sinceMs = performance.now()
    const repeated = await this.#written(records)
    this.#repeated.add(repeated)
    this.#listeners.committed(records, { repeated, sinceMs })
  }

  async #written(records: readonly NewRecord[]) {
    const write = () =>
      this.#transactions.run((client) => this.#writer.write(client, { records, writer: this.#slot.writerOf(client) }))
    try {
      return await write()
    } catch (error) {
      if (lacksPartition(error)) await this.#days.prepare(this.#slot.nowMs())
      // This process was frozen so long that another one has its slot, and has made the same ids.
      else if (existsAlready(error)) await this.#slot.renew()
      else throw error
      return write()
    }
  }
}

function charactersOf({ record }: NewRecord): number {
  let characters = 0
  for (const value of Object.values(record)) if (typeof value === 'string') characters += value.length
  return characters
}
