import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import type { NewRecord, RecordFields, RecordKind } from '../../dist/storage/record-storage.js'
import { openSqlite } from '../../dist/storage/sqlite/database.js'
import { SqliteStorage } from '../../dist/storage/sqlite/sqlite-storage.js'
import { ThreadedSqliteStorage } from '../../dist/storage/sqlite/threaded-sqlite-storage.js'
import type { Storage } from '../../dist/storage/storage.js'

/** A store that is open in one or more instances. */
interface OpenStore {
  readonly instances: readonly Storage[]
  /** Makes the database refuse each record whose message has the word, until the returned function is called. */
  readonly refuse?: (word: string) => Promise<() => Promise<void>>
  close(): Promise<void>
}

interface StoreKind {
  readonly name: string
  readonly isInstalled: boolean
  open(): Promise<OpenStore>
}

const kinds: readonly StoreKind[] = [
  {
    name: 'SQLite in memory',
    isInstalled: true,
    async open() {
      const storage = new SqliteStorage(':memory:')
      return { instances: [storage], close: () => storage.close() }
    },
  },
  {
    name: 'SQLite in threads of its own',
    isInstalled: true,
    async open() {
      const folder = mkdtempSync(join(tmpdir(), 'receiver-contract-'))
      const file = join(folder, 'receiver.sqlite')
      const storage = await ThreadedSqliteStorage.open(file)
      return {
        instances: [storage],
        refuse: async (word) => refuseInSqlite(file, word),
        async close() {
          await storage.close()
          rmSync(folder, { recursive: true })
        },
      }
    },
  },
]

/** The store of a suite, empty at its beginning. Each test uses a bucket of its own. */
export class StoreUnderTest {
  #open: OpenStore | undefined
  #buckets = 0
  #appended = 0

  constructor(kind: StoreKind) {
    beforeAll(async () => {
      this.#open = await kind.open()
    })
    afterAll(() => this.#open?.close())
  }

  get instances(): readonly Storage[] {
    return this.#open!.instances
  }

  get one(): Storage {
    return this.instances[0]!
  }

  /** Another instance on the same store; the same one where the store can have no other. */
  get other(): Storage {
    return this.instances.at(-1)!
  }

  get refuse(): OpenStore['refuse'] {
    return this.#open!.refuse
  }

  bucket(): string {
    return `bucket-${this.#buckets++}`
  }

  /** Appends to the instances by turns, all at once. */
  async append(records: readonly NewRecord[]): Promise<void> {
    await Promise.all(records.map((record) => this.#next().records.append(record)))
  }

  #next(): Storage {
    return this.instances[this.#appended++ % this.instances.length]!
  }
}

/** Runs the suite on each store, and on two instances of each store that can have them. */
export function onEachStore(suite: (store: StoreUnderTest) => void): void {
  for (const kind of kinds) {
    const title = kind.isInstalled ? kind.name : `${kind.name} (skipped: it is not installed)`
    describe.skipIf(!kind.isInstalled)(title, () => suite(new StoreUnderTest(kind)))
  }
}

/** A record for a store, without an idempotency key if none is named. */
export function newRecord(
  kind: RecordKind,
  {
    bucket,
    idempotencyKey,
    ...record
  }: { bucket: string; idempotencyKey?: string } & Partial<RecordFields> & Record<string, unknown>,
): NewRecord {
  const usual = { timeStamp: 1_700_000_000_000, appName: 'shop' }
  const own = kind === 'logs' ? { level: 'info', message: 'hello' } : { eventId: 1 }
  return { kind, bucket, idempotencyKey, record: { ...usual, ...own, ...record } }
}

/** The numbers from 0 to below the count, each mapped. */
export function times<Result>(count: number, make: (number: number) => Result): Result[] {
  return Array.from({ length: count }, (_, number) => make(number))
}

function refuseInSqlite(file: string, word: string) {
  const inDatabase = (sql: string) => {
    const database = openSqlite(file)
    database.exec(sql)
    database.close()
  }
  inDatabase(`CREATE TRIGGER refuse BEFORE INSERT ON records WHEN instr(new.record, '${word}') > 0
    BEGIN SELECT raise(ABORT, 'refused'); END`)
  return async () => inDatabase('DROP TRIGGER refuse')
}
