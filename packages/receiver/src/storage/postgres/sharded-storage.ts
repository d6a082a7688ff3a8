import type { CommitListener, RecordStorage } from '../record-storage.js'
import type { Clocks } from '../steady-time.js'
import type { Storage } from '../storage.js'
import { StoreUnavailableError } from '../store-unavailable.js'
import { messageOf } from './database-errors.js'
import { mergedCounts, mergedFacets, mergedPages } from './merged-answers.js'
import { othersMs, PostgresStorage } from './postgres-storage.js'
import { RecordTail } from './record-tail.js'
import { Servers } from './servers.js'
import { fromAll, type ShardPlace, shardOf } from './shards.js'

/** A shard that could not be opened is tried again after this time, in ms. */
const retryMs = 1000

/** A database that may be away when the receiver starts. */
class Shard {
  readonly servers: Servers
  readonly #place: ShardPlace
  readonly #committed: CommitListener
  #storage: PostgresStorage | undefined
  #failure: unknown = new StoreUnavailableError('the database is not open')
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(url: string, { place, committed }: { readonly place: ShardPlace; readonly committed: CommitListener }) {
    this.servers = new Servers(url)
    this.#place = place
    this.#committed = committed
  }

  /** @throws {StoreUnavailableError} if it is not open */
  get storage(): PostgresStorage {
    if (this.#storage !== undefined) return this.#storage
    if (this.#failure instanceof StoreUnavailableError) throw this.#failure
    const message = `the database ${this.servers.name} cannot be used: ${messageOf(this.#failure)}`
    throw new StoreUnavailableError(message, { cause: this.#failure })
  }

  get opened(): PostgresStorage | undefined {
    return this.#storage
  }

  /** Opens the database. One that cannot be reached is tried again later. @throws if it can be reached, and cannot be used */
  async open(): Promise<void> {
    await this.#tryToOpen()
    if (this.#storage === undefined && !(this.#failure instanceof StoreUnavailableError)) throw this.#failure
  }

  /** People may mend a database that comes back and cannot be used: whatever the failure is, it is tried again. */
  async #tryToOpen(): Promise<void> {
    try {
      const storage = await PostgresStorage.openOn(this.servers, { shard: this.#place })
      if (this.#isClosed) return await storage.close()
      storage.records.onCommit(this.#committed)
      this.#storage = storage
    } catch (error) {
      this.#failure = error
      if (!this.#isClosed) this.#timer = setTimeout(() => void this.#tryToOpen(), retryMs).unref()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await (this.#storage ?? this.servers).close()
  }
}

/**
 * Records in several databases, each record in one of them. Reads ask all; without a database that cannot be reached they are incomplete, and say so.
 * Projects, keys, sessions and content are in the first one.
 */
export class ShardedStorage implements Storage {
  readonly records: RecordStorage
  readonly content: Storage['content']
  readonly projects: Storage['projects']
  readonly keys: Storage['keys']
  readonly pageSessions: Storage['pageSessions']
  readonly clocks: Clocks
  readonly #shards: readonly Shard[]

  private constructor(shards: readonly Shard[], listeners: Set<CommitListener>) {
    const first = shards[0]!.storage
    const names = shards.map(({ servers }) => servers.name)
    const tail = new RecordTail({
      shards: shards.map(({ servers }) => servers),
      store: first.store,
      nowMs: () => first.nowMs(),
    })
    const incomplete = (answers: readonly unknown[]) =>
      answers.length < shards.length ? { incomplete: true as const } : {}
    this.#shards = shards
    this.records = {
      append: async (record) => shards[shardOf(record, names)]!.storage.records.append(record),
      repeated: (bucket) => {
        const counts = shards.flatMap(({ opened }) => opened?.records.repeated(bucket) ?? [])
        return { logs: sum(counts.map(({ logs }) => logs)), values: sum(counts.map(({ values }) => values)) }
      },
      onCommit: (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      othersMs,
      read: async (query) => {
        const pages = await fromAll(shards, ({ storage }) => storage.records.read(query))
        return { ...mergedPages(pages, query.limit), ...incomplete(pages) }
      },
      facets: async (query) => mergedFacets(await fromAll(shards, ({ storage }) => storage.records.facets(query))),
      counts: async (query) => {
        const counts = await fromAll(shards, ({ storage }) => storage.records.counts(query))
        return { ...mergedCounts(counts), ...incomplete(counts) }
      },
      position: (query) => tail.position(query),
      arrivals: (query) => tail.arrivals(query),
      missed: (query) => tail.missed(query),
      forget: async (receivedBeforeMs) =>
        sum(await fromAll(shards, ({ storage }) => storage.records.forget(receivedBeforeMs))),
      oldest: async () => least(await fromAll(shards, ({ storage }) => storage.records.oldest())),
      receiptsAround: async (ms) => {
        const receipts = await fromAll(shards, ({ storage }) => storage.records.receiptsAround(ms))
        const before = receipts.flatMap((each) => each.before ?? [])
        return {
          before: before.length === 0 ? undefined : Math.max(...before),
          since: least(receipts.map(({ since }) => since)),
        }
      },
    }
    this.clocks = first.clocks
    this.content = first.content
    this.projects = first.projects
    this.keys = first.keys
    this.pageSessions = first.pageSessions
  }

  /**
   * @throws {TypeError} for a URL that cannot be used
   * @throws {StoreUnavailableError} if the first database cannot be reached. Others may come later.
   */
  static async open(urls: readonly string[]): Promise<ShardedStorage> {
    const listeners = new Set<CommitListener>()
    const committed: CommitListener = (commit) => {
      for (const listener of listeners) listener(commit)
    }
    const shards = urls.map((url, index) => new Shard(url, { place: { index, count: urls.length }, committed }))
    try {
      await Promise.all(shards.map((shard) => shard.open()))
      return new ShardedStorage(shards, listeners)
    } catch (error) {
      await Promise.all(shards.map((shard) => shard.close()))
      throw error
    }
  }

  /** Resolves if one database takes writes: with most of its records refused a receiver is better than none. */
  async check(): Promise<void> {
    await fromAll(this.#shards, ({ storage }) => storage.check())
  }

  async bytes(): Promise<number> {
    return sum(await fromAll(this.#shards, ({ storage }) => storage.bytes()))
  }

  abandon(): void {
    for (const { servers } of this.#shards) servers.abandon()
  }

  async close(): Promise<void> {
    await Promise.all(this.#shards.map((shard) => shard.close()))
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

function least(numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter((each) => each !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}
