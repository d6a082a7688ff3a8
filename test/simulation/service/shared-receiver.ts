import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Access } from '../../../packages/receiver/src/http/access.js'
import { type AppOptions, buildApp } from '../../../packages/receiver/src/http/app.js'
import { Connections } from '../../../packages/receiver/src/http/connections.js'
import { Keys } from '../../../packages/receiver/src/keys/keys.js'
import { PageSessions } from '../../../packages/receiver/src/keys/page-sessions.js'
import { LiveFeed } from '../../../packages/receiver/src/live/live-feed.js'
import type { NewRecord, RecordPage, RecordStorage } from '../../../packages/receiver/src/storage/record-storage.js'
import { SqliteStorage } from '../../../packages/receiver/src/storage/sqlite/sqlite-storage.js'
import type { RecordKind } from '../../../src/records/wire.js'
import type { SimulatedSocket } from '../network/simulated-socket.js'
import type { Journal, TakenRequest } from './journal.js'
import { recordIdOf } from './request-reader.js'

/** One simulation's part of the receiver. */
export interface Tenant {
  /** Of the same length for each tenant. */
  readonly bucket: string
  readonly apiKey: string
  accept(socket: SimulatedSocket): void
  /** From now on requests go into this journal, as those of this backend. */
  record(journal: Journal, backend: number): void
  /** True while a record waits for its commit. */
  isBusy(): boolean
  /** The ids of the records that it has really stored, each as often as it has. */
  stored(): Promise<readonly string[]>
  /** The simulation is over. */
  leave(): void
}

/** A receiver is given up after so many tenants, because its records are in memory. */
const mostTenants = 500
let current: Promise<SharedReceiver> | undefined
let tenants = 0

/** A tenant of the process's one receiver: building its app costs half a second. */
export async function receiverTenant(): Promise<Tenant> {
  if (tenants++ % mostTenants === 0) {
    await (await current)?.close()
    current = SharedReceiver.start()
  }
  return (await current!).tenant(`simulation${String(tenants).padStart(7, '0')}`)
}

interface Recorder {
  readonly journal: Journal
  readonly backend: number
}

/** Requests by their bodies, which the handlers pass on as they are. */
type TakenByBody = WeakMap<object, TakenRequest>

/** The real receiver: its app, its handlers and its storage in memory, over connections that it is handed. */
class SharedReceiver {
  readonly #app: FastifyInstance
  readonly #storage: SqliteStorage
  readonly #apiKey: string
  readonly #recorders = new Map<string, Recorder>()
  readonly #taken: TakenByBody = new WeakMap()
  #committing = 0

  static async start(): Promise<SharedReceiver> {
    const storage = new SqliteStorage(':memory:')
    const keys = await Keys.load(storage.keys)
    const access = new Access({
      keys,
      sessions: await PageSessions.load(storage.pageSessions),
      hosts: [],
      store: 'test',
    })
    const receiver = new SharedReceiver({
      storage,
      keys,
      access,
      apiKey: (await keys.make({ scopes: ['ingest'] })).key,
    })
    await receiver.#app.ready()
    return receiver
  }

  private constructor({
    storage,
    keys,
    access,
    apiKey,
  }: Pick<AppOptions, 'keys' | 'access'> & { storage: SqliteStorage; apiKey: string }) {
    this.#storage = storage
    this.#apiKey = apiKey
    this.#app = buildApp({
      storage: {
        records: this.#watched(storage.records),
        content: storage.content,
        projects: storage.projects,
        keys: storage.keys,
        pageSessions: storage.pageSessions,
        views: storage.views,
        check: () => storage.check(),
        bytes: () => storage.bytes(),
        close: () => storage.close(),
      },
      keys,
      access,
      feed: new LiveFeed(storage.records),
      start: { url: '', apiKey: null, project: 'demo', startedAt: new Date().toISOString() },
      web: new URL('./no-page/', import.meta.url),
      requestTimeoutMs: 0,
      connections: new Connections(),
    })
    this.#app.addHook('preHandler', async (request) => {
      const taken = this.#take(request)
      if (taken !== undefined) this.#taken.set(request.body as object, taken)
    })
    this.#app.addHook('onResponse', async (request, reply) => {
      const { body } = request
      const known = typeof body === 'object' && body !== null ? this.#taken.get(body) : undefined
      const taken = known ?? this.#take(request)
      // Where the connection has broken there was no answer.
      if (taken !== undefined && reply.raw.writableFinished) {
        this.#recorders.get(taken.bucket)?.journal.answer(taken, reply.statusCode)
      }
    })
  }

  async tenant(bucket: string): Promise<Tenant> {
    await this.#storage.projects.add(bucket)
    return {
      bucket,
      apiKey: this.#apiKey,
      accept: (socket) => void this.#app.server.emit('connection', socket),
      record: (journal, backend) => void this.#recorders.set(bucket, { journal, backend }),
      isBusy: () => this.#committing > 0,
      stored: async () => [...(await this.#idsOf('logs', bucket)), ...(await this.#idsOf('values', bucket))],
      leave: () => void this.#recorders.delete(bucket),
    }
  }

  async close(): Promise<void> {
    await this.#app.close()
    await this.#storage.close()
  }

  #take({ url, params, headers, body, socket }: FastifyRequest): TakenRequest | undefined {
    const { bucketId } = params as { bucketId?: string }
    const recorder = this.#recorders.get(bucketId ?? '')
    if (recorder === undefined || bucketId === undefined) return undefined
    const kind = url.startsWith('/logs/') ? 'logs' : 'values'
    const about = { kind, bucket: bucketId, apiKey: undefined, recordId: idOf(kind, body) } as const
    const idempotencyKey = headers['idempotency-key'] as string | undefined
    const connection = socket.remotePort!
    return recorder.journal.take({ ...about, idempotencyKey, connection }, recorder.backend)
  }

  /** The storage of records, which tells the journal of each commit. */
  #watched(records: RecordStorage): RecordStorage {
    return {
      append: async (record: NewRecord) => {
        this.#committing++
        try {
          await records.append(record)
        } finally {
          this.#committing--
        }
        const taken = this.#taken.get(record.record)
        if (taken !== undefined) this.#recorders.get(record.bucket)?.journal.store(taken, { honoursKeys: true })
      },
      forget: (receivedBeforeMs) => records.forget(receivedBeforeMs),
      read: (query) => records.read(query),
      facets: (query) => records.facets(query),
      counts: (query) => records.counts(query),
      errors: (query) => records.errors(query),
      position: (query) => records.position(query),
      arrivals: (query) => records.arrivals(query),
      missed: (query) => records.missed(query),
      oldest: () => records.oldest(),
      receiptsAround: (ms) => records.receiptsAround(ms),
      repeated: (bucket) => records.repeated(bucket),
      onCommit: (listener) => records.onCommit(listener),
    }
  }

  async #idsOf(kind: RecordKind, bucket: string): Promise<string[]> {
    const ids: string[] = []
    let before: number | undefined
    do {
      const page: RecordPage = await this.#storage.records.read({ kind, bucket, limit: 1000, before })
      for (const record of page.list) ids.push(idOf(kind, record))
      before = page.list.at(-1)?.id
    } while (before !== undefined)
    return ids
  }
}

function idOf(kind: RecordKind, body: unknown): string {
  return recordIdOf(kind, JSON.stringify(body ?? {}))
}
