import { afterAll, beforeAll, describe } from 'vitest'
import type { NewRecord, RecordFields, RecordKind } from '../../dist/storage/record-storage.js'
import type { Storage } from '../../dist/storage/storage.js'
import { closeStores, type OpenStore, type StoreKind, storeKinds } from './store-kinds.js'

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
  afterAll(closeStores)
  for (const kind of storeKinds) {
    describe.skipIf(!kind.isInstalled)(kind.name, () => suite(new StoreUnderTest(kind)))
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
