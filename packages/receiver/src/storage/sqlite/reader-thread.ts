import type { ContentReading } from '../content-storage.js'
import type { RecordPage, RecordQuery, RecordReading } from '../record-storage.js'
import type { Searching } from './search-thread.js'
import { ThreadLink } from './thread-link.js'

/** What the thread does: all that takes little time. */
export interface ReaderPorts {
  readonly records: Omit<RecordReading, keyof Searching> & { newest(query: RecordQuery): Promise<RecordPage> }
  readonly content: ContentReading
}

/** Reads in its own thread on its own connection, so that no write waits. */
export class ReaderThread {
  readonly #link: ThreadLink<ReaderPorts>

  /** @param path path of the database */
  constructor(path: string) {
    this.#link = new ThreadLink(new URL('./reader-worker.js', import.meta.url), { path })
  }

  get records(): ReaderPorts['records'] {
    const records = this.#link.port('records')
    return {
      newest: records('newest'),
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

  close(): Promise<void> {
    return this.#link.close()
  }
}
