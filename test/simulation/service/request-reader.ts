import type { RecordKind } from '../../../src/records/wire.js'

/** The head of a request. */
export interface RequestHead {
  readonly kind: RecordKind
  readonly bucket: string
  readonly apiKey: string | undefined
  readonly idempotencyKey: string | undefined
  /** The connection on which it came: the client's port. */
  readonly connection: number
}

/** A request that has come as a whole. */
export interface ServiceRequest extends RequestHead {
  /** `r` and the number after `#` in the message, or `v` and the event's number. Empty for a record that the workload has not made. */
  readonly recordId: string
  /** As it came, one character for each byte. */
  readonly body: string
}

type Lane = Pick<RequestHead, 'kind' | 'bucket' | 'apiKey'>

/** Reads the requests of one connection, as the senders write them: names of headers in lower case, bodies with a length. */
export class RequestReader {
  readonly #connection: number
  #text = ''
  #at = 0
  #head: RequestHead | undefined
  #bodyAt = 0
  #bodyEnd = 0
  /** Requests of a lane begin with the same bytes. */
  #beginning = ''
  #lane: Lane | undefined

  /** @param connection the client's port */
  constructor(connection: number) {
    this.#connection = connection
  }

  push(bytes: Buffer): void {
    this.#text = this.#text.slice(this.#at) + bytes.toString('latin1')
    this.#bodyAt -= this.#at
    this.#bodyEnd -= this.#at
    this.#at = 0
  }

  /** True when a part of a request has come. */
  get pending(): boolean {
    return this.#at < this.#text.length
  }

  /** The head of the request whose body has not come as a whole. */
  get head(): RequestHead | undefined {
    return this.#head
  }

  /** @throws on bytes that are not a request of a sender */
  next(): ServiceRequest | undefined {
    if (this.#head === undefined && !this.#readHead()) return undefined
    if (this.#text.length < this.#bodyEnd) return undefined
    const head = this.#head!
    const body = this.#text.slice(this.#bodyAt, this.#bodyEnd)
    this.#head = undefined
    this.#at = this.#bodyEnd
    return { ...head, body, recordId: recordIdOf(head.kind, body) }
  }

  #readHead(): boolean {
    const end = this.#text.indexOf('\r\n\r\n', this.#at)
    if (end === -1) return false
    const head = this.#text.slice(this.#at, end + 2)
    const idempotencyKey = fieldOf(head, 'idempotency-key')
    const lane = this.#laneOf(head)
    this.#head = { ...lane, idempotencyKey, connection: this.#connection }
    this.#bodyAt = end + 4
    this.#bodyEnd = end + 4 + Number(fieldOf(head, 'content-length') ?? 0)
    return true
  }

  #laneOf(head: string): Lane {
    if (this.#lane !== undefined && head.slice(0, this.#beginning.length) === this.#beginning) return this.#lane
    const [, collection, bucket = ''] = /^POST \/(logs|value_tracking)\/([^/ ]+) HTTP\/1\.1\r\n/.exec(head) ?? []
    if (collection === undefined) throw new Error(`not a request of a sender: ${JSON.stringify(head.slice(0, 100))}`)
    const kind = collection === 'logs' ? 'logs' : 'values'
    this.#beginning = head.slice(0, head.indexOf('\r\nidempotency-key: '))
    this.#lane = { kind, bucket: decodeURIComponent(bucket), apiKey: fieldOf(head, 'x-api-key') }
    return this.#lane
  }
}

function fieldOf(head: string, name: string): string | undefined {
  const field = `\r\n${name}: `
  const at = head.indexOf(field)
  return at === -1 ? undefined : head.slice(at + field.length, head.indexOf('\r\n', at + 2))
}

export function recordIdOf(kind: RecordKind, body: string): string {
  if (kind === 'values') {
    const [, id] = /"eventId":(\d+)/.exec(body) ?? []
    return id === undefined ? '' : `v${id}`
  }
  const [, number] = /"message":"[^"#]*#(\d+)/.exec(body) ?? []
  return number === undefined ? '' : `r${number}`
}
