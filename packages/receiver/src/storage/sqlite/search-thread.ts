import { say } from '../../stderr.js'
import type { CountQuery, Facets, RecordCounts, RecordPage, RecordQuery, RecordReading } from '../record-storage.js'
import { ThreadLink } from './thread-link.js'

/** What may take long. */
export type Searching = Pick<RecordReading, 'read' | 'facets' | 'counts'>

/** What the thread does. A search ends when `ended`, which both threads share, is not 0. */
export interface SearchPorts {
  readonly searches: {
    read(query: RecordQuery, ended: Int32Array): Promise<RecordPage>
    facets(query: RecordQuery, ended: Int32Array): Promise<Facets>
    counts(query: CountQuery, ended: Int32Array): Promise<RecordCounts>
  }
  readonly index: {
    /** Updates the text index. */
    follow(): Promise<void>
  }
}

/** Paths of the database and of the text index. */
export interface SearchFiles {
  readonly path: string
  readonly texts: string
}

/** Searches in a thread of its own, one after another, with the text index. Nothing but another search waits for it. */
export class SearchThread implements Searching {
  readonly #link: ThreadLink<SearchPorts>
  /** One for each search that has not ended. */
  readonly #open = new Set<Int32Array>()
  /** `following`: an index update runs. `behind`: it runs, and records have arrived since it started. */
  #index: 'idle' | 'following' | 'behind' | 'closed' = 'idle'

  constructor(files: SearchFiles) {
    this.#link = new ThreadLink(new URL('./search-worker.js', import.meta.url), files)
  }

  read(query: RecordQuery, signal?: AbortSignal): Promise<RecordPage> {
    return this.#until(signal, (ended) => this.#link.port('searches')('read')(query, ended))
  }

  facets(query: RecordQuery, signal?: AbortSignal): Promise<Facets> {
    return this.#until(signal, (ended) => this.#link.port('searches')('facets')(query, ended))
  }

  counts(query: CountQuery, signal?: AbortSignal): Promise<RecordCounts> {
    return this.#until(signal, (ended) => this.#link.port('searches')('counts')(query, ended))
  }

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
    this.#link
      .port('index')('follow')()
      .then(followed, (error: Error) => {
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
