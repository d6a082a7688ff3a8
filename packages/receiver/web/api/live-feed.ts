import { signal } from '@preact/signals'
import { serverSentEvents } from '../../src/commands/server-sent-events.js'
import type { LogRecord, ValueRecord } from './records.js'
import { noteSession } from './requests.js'

/** Takes what the feed brings. */
export interface FeedListener {
  /** New logs, oldest first. */
  logs?(records: readonly LogRecord[]): void
  values?(records: readonly ValueRecord[]): void
  /** Records may be missing: the feed began anew, or this reader was too slow. */
  gap?(): void
}

type FeedState = 'connecting' | 'live' | 'waiting'

const firstDelayMs = 250
const longestDelayMs = 5000
/** The receiver sends a comment every 15 s. A stream that is silent for longer has lost its network. */
const maxSilenceMs = 40_000

/**
 * The records that arrive in a bucket, from `GET /api/live`. It reconnects by itself and resumes where it was. A hidden page closes it.
 */
export class LiveFeed {
  readonly state = signal<FeedState>('connecting')
  readonly #listeners = new Set<FeedListener>()
  #bucket: string | undefined
  #cursor: string | undefined
  #abort = new AbortController()
  #wake: () => void = () => {}

  constructor() {
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.#abort.abort()
      this.#wake()
    })
    window.addEventListener('online', () => this.#wake())
    void this.#run()
  }

  /** Follows another bucket. */
  open(bucket: string): void {
    if (bucket === this.#bucket) return
    this.#bucket = bucket
    this.#cursor = undefined
    this.#abort.abort()
    this.#wake()
  }

  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async #run(): Promise<void> {
    let delayMs = firstDelayMs
    for (;;) {
      if (document.hidden || this.#bucket === undefined) {
        await this.#pause()
        continue
      }
      const abort = new AbortController()
      this.#abort = abort
      try {
        await this.#read(this.#bucket, abort.signal, () => {
          delayMs = firstDelayMs
        })
      } catch {
        // The next attempt follows below.
      }
      this.state.value = abort.signal.aborted ? 'connecting' : 'waiting'
      if (abort.signal.aborted) continue
      await this.#pause(delayMs)
      delayMs = Math.min(delayMs * 2, longestDelayMs)
    }
  }

  async #read(bucket: string, signal: AbortSignal, onOpen: () => void): Promise<void> {
    const silence = new AbortController()
    let timer: number | undefined
    const hear = () => {
      clearTimeout(timer)
      timer = window.setTimeout(() => silence.abort(), maxSilenceMs)
    }
    hear()
    try {
      const response = await fetch(`/api/live?bucket=${encodeURIComponent(bucket)}`, {
        signal: AbortSignal.any([signal, silence.signal]),
        headers: {
          accept: 'text/event-stream',
          ...(this.#cursor === undefined ? {} : { 'last-event-id': this.#cursor }),
        },
      })
      noteSession(response.status)
      if (!response.ok || response.body === null) throw new Error(`live: ${response.status}`)
      this.state.value = 'live'
      onOpen()
      for await (const { event, data, id } of serverSentEvents(piecesOf(response.body, hear))) {
        if (signal.aborted) return
        if (id !== undefined) this.#cursor = id
        this.#hand(event, JSON.parse(data))
      }
    } finally {
      clearTimeout(timer)
    }
  }

  #hand(type: string, data: unknown): void {
    for (const listener of this.#listeners) {
      if (type === 'logs') listener.logs?.(data as LogRecord[])
      else if (type === 'values') listener.values?.(data as ValueRecord[])
      else if (type === 'missed' || (type === 'hello' && !(data as { resumed: boolean }).resumed)) listener.gap?.()
    }
  }

  #pause(ms?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

async function* piecesOf(body: ReadableStream<Uint8Array>, onPiece: () => void): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    onPiece()
    yield value
  }
}
