import { say } from '../../stderr.js'
import type { ContentReading } from '../content-storage.js'
import type { RecordReading } from '../record-storage.js'
import { ThreadLink } from './thread-link.js'

/** What the thread does. */
export interface ReaderPorts {
  readonly records: RecordReading
  readonly content: ContentReading
  readonly index: {
    /** Updates the text index. */
    follow(): Promise<void>
  }
}

/** Paths of the database and of the text index. */
export interface ReaderFiles {
  readonly path: string
  readonly texts: string
}

/** Reads in its own thread on its own connection, so that a heavy query delays no write. */
export class ReaderThread {
  readonly #link: ThreadLink<ReaderPorts>
  /** `following`: an index update runs. `behind`: it runs, and records have arrived since it started. */
  #index: 'idle' | 'following' | 'behind' | 'closed' = 'idle'

  constructor(files: ReaderFiles) {
    this.#link = new ThreadLink(new URL('./reader-worker.js', import.meta.url), files)
  }

  get records(): RecordReading {
    const records = this.#link.port('records')
    return {
      // The thread gets the query and nothing else: not everything can be sent to it.
      read: (query) => records('read')(query),
      facets: (query) => records('facets')(query),
      counts: (query) => records('counts')(query),
      position: records('position'),
      arrivals: records('arrivals'),
      missed: records('missed'),
      oldest: records('oldest'),
      receiptsAround: records('receiptsAround'),
    }
  }

  get content(): ContentReading {
    const content = this.#link.port('content')
    return {
      findType: content('findType'),
      listTypes: content('listTypes'),
      listEntries: content('listEntries'),
      findEntry: content('findEntry'),
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

  close(): Promise<void> {
    this.#index = 'closed'
    return this.#link.close()
  }
}
