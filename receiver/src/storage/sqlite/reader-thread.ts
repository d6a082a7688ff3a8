import type { ContentReading } from '../content-storage.js'
import type { RecordPage, RecordQuery } from '../record-storage.js'
import { ThreadLink } from './thread-link.js'

/** A question to the thread: a page of records, something of content, or that the text index follows the records. */
export type ReaderQuestion =
  | { readonly type: 'read'; readonly query: RecordQuery }
  | { readonly type: 'content'; readonly method: keyof ContentReading; readonly query: unknown }
  | { readonly type: 'follow' }

/** The database, and the text index beside it. */
export interface ReaderFiles {
  readonly path: string
  readonly texts: string
}

/** Reads in a thread with a connection of its own, so that a heavy question holds no record up. */
export class ReaderThread {
  readonly #link: ThreadLink<ReaderQuestion>
  /** `behind` while it indexes and there is more since. */
  #index: 'idle' | 'following' | 'behind' | 'closed' = 'idle'

  constructor(files: ReaderFiles) {
    this.#link = new ThreadLink(new URL('./reader-worker.js', import.meta.url), files)
  }

  read(query: RecordQuery): Promise<RecordPage> {
    return this.#link.ask({ type: 'read', query }) as Promise<RecordPage>
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

  /** To be told after each commit of records. */
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
      // Who looks for words is told, too, and tries again. Records are taken, and read by all else.
      process.stderr.write(`sluice-receiver: cannot index texts: ${error.message}\n`)
      this.#index = 'idle'
    })
  }

  close(): Promise<void> {
    this.#index = 'closed'
    return this.#link.close()
  }
}
