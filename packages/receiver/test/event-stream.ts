import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Receiver } from 'sluice-receiver'
import { ask } from './browser.js'

export interface StreamEvent {
  readonly event: string
  readonly id: string
  // biome-ignore lint/suspicious/noExplicitAny: tests compare the data field by field.
  readonly data: any
}

/** A client of `GET /api/live`. It reads while somebody waits for an event, and no longer. */
export class EventStream {
  readonly answer: IncomingMessage
  readonly #chunks: AsyncIterator<string>
  #text = ''
  /** Id of the last event. */
  lastId = ''

  private constructor(answer: IncomingMessage) {
    this.answer = answer
    this.#chunks = answer.setEncoding('utf8')[Symbol.asyncIterator]()
  }

  static async open(
    { url, apiKey }: Pick<Receiver, 'url' | 'apiKey'>,
    { bucket = 'demo', after, lastId }: { bucket?: string; after?: string; lastId?: string } = {},
  ): Promise<EventStream> {
    const query = new URLSearchParams({ bucket, ...(after === undefined ? {} : { after }) })
    const headers = { 'x-api-key': apiKey ?? '', ...(lastId === undefined ? {} : { 'last-event-id': lastId }) }
    return new EventStream(await ask(url, { path: `/api/live?${query}`, headers }))
  }

  /** The next event; undefined at the end of the stream. */
  async next(): Promise<StreamEvent | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end === -1) {
        const { value, done } = await this.#chunks.next()
        if (done === true) return undefined
        this.#text += value
        continue
      }
      const fields = this.#text.slice(0, end).split('\n')
      this.#text = this.#text.slice(end + 2)
      const field = (name: string) => fields.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? ''
      if (field('event') === '') continue
      this.lastId = field('id')
      return { event: field('event'), id: this.lastId, data: JSON.parse(field('data')) }
    }
  }

  /** Reads until a predicate on all events so far holds, and returns them. */
  async until(isEnough: (events: readonly StreamEvent[]) => boolean): Promise<StreamEvent[]> {
    const events: StreamEvent[] = []
    while (!isEnough(events)) {
      const event = await this.next()
      if (event === undefined) throw new Error(`the stream has ended after ${events.length} events`)
      events.push(event)
    }
    return events
  }

  async leave(): Promise<void> {
    const closed = once(this.answer, 'close')
    this.answer.destroy()
    this.answer.on('error', () => {})
    await closed
  }
}

/** The records of one kind in the events. */
export function recordsIn(events: readonly StreamEvent[], kind: 'logs' | 'values' = 'logs') {
  return events.flatMap(({ event, data }) => (event === kind ? data : []))
}
