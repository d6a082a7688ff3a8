import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { ContentTypeInfo, FieldDefinition } from 'sluice/content'

/** One request as it came. */
export interface ContentRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  /** Position among all requests, from 0. */
  readonly number: number
}

/** A fault of the server for one request. */
export type ContentFault =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  /** Closes with RST, before or after the work is done. */
  | 'reset-before'
  | 'reset-after'
  /** Does the work and answers half of the body; then the connection ends, or nothing more comes. */
  | 'half-answer'
  | 'stalled-answer'
  /** Does the work and never answers. */
  | 'silence'
  /** Answers when this has resolved; the work is done at once. */
  | Promise<void>

export interface StoredEntry {
  readonly id: string
  readonly type: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly createdAt?: string
  readonly updatedAt?: string
  readonly publishedAt?: string
}

export interface ContentServerOptions {
  readonly apiKey?: string
  readonly accessToken?: string
  readonly project?: string
  readonly types?: readonly ContentTypeInfo[]
  /** Base URL of a service that takes the requests, and has the content types, in place of the memory. */
  readonly behind?: string
  /** True when a repeated idempotency key gets the first answer again, as from the receiver. @default true */
  readonly heedsKeys?: boolean
  /** @default a free one */
  readonly port?: number
}

/**
 * The content operations as the API describes them, in memory or those of a service that stands behind, and whatever faults a test asks
 * for.
 */
export class ContentServer {
  readonly requests: ContentRequest[] = []
  readonly entries: StoredEntry[] = []
  fault: (request: ContentRequest) => ContentFault | undefined = () => undefined
  readonly apiKey: string
  readonly accessToken: string
  readonly project: string
  readonly #types: ContentTypeInfo[]
  readonly #answers: Map<string, string> | undefined
  readonly #behind: string | undefined
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(options: ContentServerOptions) {
    this.apiKey = options.apiKey ?? 'content-api-key'
    this.accessToken = options.accessToken ?? 'content-access-token'
    this.project = options.project ?? 'demo'
    this.#behind = options.behind
    this.#types = [...(options.types ?? [articleType()])]
    this.#answers = (options.heedsKeys ?? true) ? new Map() : undefined
    this.#server = createServer((request, response) => void this.#serve(request, response))
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
  }

  static async start(options: ContentServerOptions = {}): Promise<ContentServer> {
    const server = new ContentServer(options)
    await new Promise<void>((resolve) => server.#server.listen(options.port ?? 0, '127.0.0.1', resolve))
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Options and variables that reach it. */
  get options() {
    return { url: this.url, apiKey: this.apiKey, accessToken: this.accessToken }
  }

  get variables() {
    return { SLUICE_URL: this.url, SLUICE_API_KEY: this.apiKey, SLUICE_ACCESS_TOKEN: this.accessToken }
  }

  /** Titles of the entries that were made, in their order. */
  get titles(): unknown[] {
    return this.entries.map(({ fields }) => fields.title)
  }

  /** Resolves when so many requests have come; those from then on are not answered before `release`. */
  holdAfter(count: number): { readonly reached: Promise<void>; release(): void } {
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const reached = new Promise<void>((resolve) => {
      this.fault = ({ number }) => {
        if (number < count) return undefined
        resolve()
        return released
      }
    })
    return { reached, release }
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(incoming).catch(() => undefined)
    if (body === undefined) return
    const { method = '', url: path = '', headers } = incoming
    const request = { method, path, headers, body, number: this.requests.length }
    this.requests.push(request)
    const fault = this.fault(request)
    if (typeof fault === 'object' && 'status' in fault) {
      response.writeHead(fault.status, fault.headers).end(fault.body ?? '')
      return
    }
    if (fault === 'reset-before') {
      incoming.socket.resetAndDestroy()
      return
    }
    const [status, answer] = this.#behind === undefined ? this.#operate(request) : await this.#pass(request)
    if (status === 201) this.#remember(request, String((answer as { result: unknown }).result))
    if (fault === 'silence') return
    if (fault === 'reset-after') {
      incoming.socket.resetAndDestroy()
      return
    }
    await fault
    const json = JSON.stringify(answer)
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) })
    if (fault !== 'half-answer' && fault !== 'stalled-answer') response.end(json)
    else
      response.write(json.slice(0, json.length / 2), () => fault === 'half-answer' && incoming.socket.resetAndDestroy())
  }

  #operate(request: ContentRequest): [status: number, body: unknown] {
    if (!this.#admits(request)) return [401, failed('credentials are missing or wrong')]
    const { pathname, searchParams } = new URL(request.path, 'http://host')
    const [, api, collection, project, key] = pathname.split('/').map(decodeURIComponent)
    if (api !== 'ng-cms' || project !== this.project) return [404, failed('no such project')]
    if (collection === 'content-types' && request.method === 'GET') return [200, this.#list(searchParams)]
    const type = this.#types.find(({ id, key: name, isActive }) => isActive && (key === name || key === id))
    if (type === undefined) return [404, failed('no such content type')]
    if (collection === 'content-types' && request.method === 'DELETE') {
      this.#types[this.#types.indexOf(type)] = { ...type, isActive: false }
      return [200, succeeded(type.id)]
    }
    if (collection !== 'content' || request.method !== 'POST') return [404, failed('no such operation')]
    return this.#create(request, type)
  }

  #admits({ headers }: ContentRequest): boolean {
    const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1]
    return [headers['x-api-key'], bearer].some((each) => each === this.apiKey || each === this.accessToken)
  }

  #list(query: URLSearchParams) {
    const from = Number(query.get('from') ?? 1)
    return { total: this.#types.length, list: this.#types.slice(from - 1, from - 1 + Number(query.get('to') ?? 20)) }
  }

  #create({ headers, body }: ContentRequest, type: ContentTypeInfo): [status: number, body: unknown] {
    const key = String(headers['idempotency-key'])
    const before = this.#answers?.get(key)
    if (before !== undefined) return [201, succeeded(before)]
    const { fields } = JSON.parse(body) as StoredEntry
    const validationErrors = violations(fields, type.schema)
    if (validationErrors.length > 0) return [400, { isValid: false, validationErrors }]
    const id = `entry_${this.entries.length + 1}`
    this.#answers?.set(key, id)
    return [201, succeeded(id)]
  }

  async #pass({ method, path, headers, body }: ContentRequest): Promise<[status: number, body: unknown]> {
    const names = ['x-api-key', 'authorization', 'accept', 'content-type', 'idempotency-key']
    const passed = names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]]))
    const answer = await fetch(this.#behind + path, {
      method,
      headers: Object.fromEntries(passed),
      ...(method === 'POST' ? { body } : {}),
    })
    return [answer.status, await answer.json()]
  }

  /** The same answer again is the same entry. */
  #remember({ path, body }: ContentRequest, id: string): void {
    if (this.entries.some((entry) => entry.id === id)) return
    const { fields, createdAt, updatedAt, publishedAt } = JSON.parse(body) as StoredEntry
    const [, , , , type = '', verb] = path.split('/').map(decodeURIComponent)
    const times = Object.entries({ createdAt, updatedAt, publishedAt })
    const kept = times.filter(([, time]) => verb === 'migrate' && time !== undefined)
    this.entries.push({ id, type, fields, ...Object.fromEntries(kept) })
  }
}

function violations(fields: Readonly<Record<string, unknown>>, schema: readonly FieldDefinition[]) {
  const known = new Set(schema.map(({ key }) => key))
  const wrong = (name: string, message: string) => ({ name, attemptedValue: fields[name] ?? null, message })
  return [
    ...Object.keys(fields).flatMap((name) => (known.has(name) ? [] : [wrong(name, `${name} is no field of the type`)])),
    ...schema.flatMap(({ key, required, maxLength = Number.POSITIVE_INFINITY }) => {
      const value = fields[key]
      if (value === undefined) return required ? [wrong(key, `${key} is required`)] : []
      if (typeof value !== 'string') return [wrong(key, `${key} must be a text`)]
      return value.length > maxLength ? [wrong(key, `${key} must have at most ${maxLength} characters`)] : []
    }),
  ]
}

const succeeded = (result: string) => ({ success: true, result, errors: [] })
const failed = (message: string) => ({ success: false, errors: [{ correlationId: 'c-1', message }] })

/** A content type with a title of at most 40 characters, which is required, and a body. */
export function articleType(changes: Partial<ContentTypeInfo> = {}): ContentTypeInfo {
  return {
    id: 'type_1',
    projectId: 'demo',
    name: 'Article',
    key: 'article',
    description: '',
    displayField: 'title',
    schema: [
      { key: 'title', label: 'Title', type: 'text', required: true, maxLength: 40 },
      { key: 'body', label: 'Body', type: 'richtext', required: false },
    ],
    schemaVersion: 1,
    fieldsCount: 2,
    isActive: true,
    createdBy: 1,
    updatedBy: 1,
    updatedByName: 'Ann',
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    ...changes,
  }
}
