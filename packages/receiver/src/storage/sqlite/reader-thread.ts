import { say } from '../../stderr.js'
import type { ContentReading } from '../content-storage.js'
import type { RecordReading } from '../record-storage.js'
import { ThreadLink } from './thread-link.js'

/** A question to the thread: some records, some content, or an update of the text index. */
export type ReaderQuestion =
  | { readonly type: 'records'; readonly method: keyof RecordReading; readonly query: unknown }
  | { readonly type: 'content'; readonly method: keyof ContentReading; readonly query: unknown }
  | { readonly type: 'follow' }

/** Paths of the database and of the text index. */
export interface ReaderFiles {
  readonly path: string
  readonly texts: string
}

/** Reads in its own thread on its own connection, so that a heavy query delays no write. */
export class ReaderThread {
  readonly #link: ThreadLink<ReaderQuestion>
  /** `following`: an index update runs. `behind`: it runs, and records have arrived since it started. */
  #index: 'idle' | 'following' | 'behind' | 'closed' = 'idle'

  constructor(files: ReaderFiles) {
    this.#link = new ThreadLink(new URL('./reader-worker.js', import.meta.url), files)
  }

  get records(): RecordReading {
    const ask = (method: keyof RecordReading) => (query: unknown) =>
      this.#link.ask({ type: 'records', method, query }) as Promise<never>
    return {
      read: ask('read'),
      facets: ask('facets'),
      counts: ask('counts'),
      position: ask('position'),
      arrivals: ask('arrivals'),
      missed: ask('missed'),
      oldest: ask('oldest') as () => Promise<never>,
      receiptsAround: ask('receiptsAround'),
    }
  }

  get content(): ContentReading {
    const ask = (method: keyof ContentReading) => (query: unknown) =>
      this.#link.ask({ type: 'content', method, query }) as Promise<never>
    return {
      findType: ask('findType'),
      listTypes: ask('listTypes'),
      listEntries: ask('listEntries'),
      findEntry: ask('findEntry'),
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
    this.#link.ask({ type: 'follow' }).then(followed, (error: Error) => {
      if (this.#index === 'closed') return
      // Only queries by words are affected: each of them retries the update and gets its error.
      say(`cannot index texts: ${error.message}`)
      this.#index = 'idle'
    })
  }

  close(): Promise<void> {
    this.#index = 'closed'
    return this.#link.close()
  }
}
