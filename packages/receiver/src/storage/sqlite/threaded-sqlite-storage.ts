import { dirname } from 'node:path'
import { CommitListeners } from '../commit-listeners.js'
import { GroupCommit } from '../group-commit.js'
import { KnownProjects } from '../known-projects.js'
import { Room } from '../out-of-space.js'
import type { NewRecord, RecordStorage } from '../record-storage.js'
import { isNewestPage } from '../records/field-conditions.js'
import { toLines } from '../records/written-records.js'
import { RepeatedAttempts } from '../repeated-attempts.js'
import type { Storage } from '../storage.js'
import { lockFolder } from './folder-lock.js'
import type { ReaderPorts } from './reader-worker.js'
import { SearchThread } from './search-thread.js'
import { bytesOnDisk } from './store-bytes.js'
import { ThreadLink } from './thread-link.js'
import { sayingUpgrade } from './upgrade.js'
import type { WriterPorts } from './writer-worker.js'

/**
 * A SqliteStorage in a thread of its own, so that waiting for the disk does not delay HTTP. A second thread reads, a third one searches.
 *
 * HTTP        append ── GroupCommit ── lines ─▶ writer thread ── one transaction per group
 * HTTP        newest page, tail, content ─────▶ reader thread ── its own connection
 * HTTP        filters, counts, facets ────────▶ search thread ── its own connection, the text index
 */
export class ThreadedSqliteStorage implements Storage {
  readonly records: RecordStorage
  readonly content: Storage['content']
  readonly projects: Storage['projects']
  readonly keys: Storage['keys']
  readonly pageSessions: Storage['pageSessions']
  readonly views: Storage['views']
  readonly #writer: ThreadLink<WriterPorts>
  readonly #reader: ThreadLink<ReaderPorts>
  readonly #searches: SearchThread
  readonly #commits: GroupCommit<NewRecord>
  readonly #room = new Room()

  readonly #release: () => void
  readonly #files: readonly string[]

  private constructor(path: string, release: () => void) {
    this.#release = release
    const texts = `${path.replace(/\.sqlite$/, '')}-texts.sqlite`
    const writer = new ThreadLink<WriterPorts>(new URL('./writer-worker.js', import.meta.url), { path })
    const reader = new ThreadLink<ReaderPorts>(new URL('./reader-worker.js', import.meta.url), { path })
    const searches = new SearchThread({ path, texts })
    const { store, forget } = writer.ports.records
    const { newest, tail } = reader.ports
    const listeners = new CommitListeners()
    const repeated = new RepeatedAttempts()
    const commits = new GroupCommit<NewRecord>(async (records) => {
      const sinceMs = performance.now()
      const known = await this.#room.of(store(toLines(records)))
      repeated.add(known)
      searches.committed()
      listeners.committed(records, { repeated: known, sinceMs })
    })
    this.#files = [path, texts]
    this.#writer = writer
    this.#reader = reader
    this.#searches = searches
    this.#commits = commits
    this.records = {
      position: tail.position,
      arrivals: tail.arrivals,
      missed: tail.missed,
      oldest: tail.oldest,
      receiptsAround: tail.receiptsAround,
      read: (query, signal) => (isNewestPage(query) ? newest.read(query) : searches.read(query, signal)),
      facets: searches.facets,
      counts: searches.counts,
      errors: searches.errors,
      append: (record) => commits.add(record),
      forget: async (receivedBeforeMs) => {
        const forgotten = await forget(receivedBeforeMs)
        if (forgotten > 0) searches.committed()
        return forgotten
      },
      repeated: (bucket) => repeated.of(bucket),
      onCommit: (listener) => listeners.add(listener),
    }
    const { addType, changeType, archiveType, addEntry, findAttempt } = writer.ports.content
    const { findType, listTypes, listEntries, findEntry } = reader.ports.content
    const reading = { findType, listTypes, listEntries, findEntry }
    this.content = { ...reading, addType, changeType, archiveType, addEntry, findAttempt }
    this.projects = new KnownProjects(writer.ports.projects)
    this.keys = writer.ports.keys
    this.pageSessions = writer.ports.pageSessions
    this.views = writer.ports.views
  }

  /**
   * Takes the folder of the file for this process, until `close`.
   *
   * @throws {FolderInUseError} if another receiver has the folder
   * @throws if the file cannot be used or a newer version has made it
   */
  static async open(path: string): Promise<ThreadedSqliteStorage> {
    const release = lockFolder(dirname(path))
    try {
      return await sayingUpgrade(path, async () => {
        const storage = new ThreadedSqliteStorage(path, release)
        await storage.keys.list()
        // An index that is missing or of another shape is made now, not at the first query.
        storage.#searches.committed()
        return storage
      })
    } catch (error) {
      release()
      throw error
    }
  }

  async check(): Promise<void> {
    this.#room.check()
    await this.#writer.ports.store.check()
  }

  async bytes(): Promise<number> {
    return this.#files.map(bytesOnDisk).reduce((sum, bytes) => sum + bytes)
  }

  async close(): Promise<void> {
    await this.#commits.settled()
    await Promise.all([this.#reader.close(), this.#searches.close()])
    // The last one moves the write-ahead log into the file: those that close side by side may all leave it to another.
    await this.#writer.close()
    this.#release()
  }
}
