import { say } from '../../stderr.js'
import type { RecordReading } from '../record-storage.js'
import type { SearchFiles, SearchPorts } from './search-worker.js'
import { ThreadLink } from './thread-link.js'

/** Searches in a thread of its own, one after another, with the text index. Nothing but another search waits for it. */
export class SearchThread {
  readonly #link: ThreadLink<SearchPorts>
  /** One for each search that has not ended. */
  readonly #open = new Set<Int32Array>()
  /** `following`: an index update runs. `behind`: it runs, and records have arrived since it started. */
  #index: 'idle' | 'following' | 'behind' | 'closed' = 'idle'

  constructor(files: SearchFiles) {
    this.#link = new ThreadLink(new URL('./search-worker.js', import.meta.url), files)
  }

  readonly read: RecordReading['read'] = (query, signal) =>
    this.#until(signal, (ended) => this.#link.ports.searches.read(query, ended))

  readonly facets: RecordReading['facets'] = (query, signal) =>
    this.#until(signal, (ended) => this.#link.ports.searches.facets(query, ended))

  readonly counts: RecordReading['counts'] = (query, signal) =>
    this.#until(signal, (ended) => this.#link.ports.searches.counts(query, ended))

  readonly errors: RecordReading['errors'] = (query, signal) =>
    this.#until(signal, (ended) => this.#link.ports.searches.errors(query, ended))

  async #until<Found>(signal: AbortSignal | undefined, search: (ended: Int32Array) => Promise<Found>): Promise<Found> {
    const ended = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
    const end = () => Atomics.store(ended, 0, 1)
    this.#open.add(ended)
    signal?.addEventListener('abort', end)
    try {
      return await search(ended)
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    } finally {
      signal?.removeEventListener('abort', end)
      this.#open.delete(ended)
    }
  }

  /** The store calls this after each commit of records, and after records were forgotten. */
  committed(): void {
    if (this.#index === 'following') this.#index = 'behind'
    if (this.#index !== 'idle') return
    this.#index = 'following'
    const followed = () => {
      if (this.#index === 'closed') return
      const behind = this.#index === 'behind'
      this.#index = 'idle'
      if (behind) this.committed()
    }
    this.#link.ports.index.follow().then(followed, (error: Error) => {
      if (this.#index === 'closed') return
      // Only queries by words are affected: each of them retries the update and gets its error.
      say(`cannot index texts: ${error.message}`)
      this.#index = 'idle'
    })
  }

  /** Ends the searches that run or wait. */
  close(): Promise<void> {
    this.#index = 'closed'
    for (const ended of this.#open) Atomics.store(ended, 0, 1)
    return this.#link.close()
  }
}
