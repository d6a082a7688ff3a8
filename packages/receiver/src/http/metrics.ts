import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { LiveFeed } from '../live/live-feed.js'
import { failedWrites } from '../stderr.js'
import type { Storage } from '../storage/storage.js'
import { ours, textAnswer } from './answers.js'
import type { Readiness } from './readiness.js'
import type { RejectedRequests } from './rejected-requests.js'

/** The parts of the receiver that the metrics show. */
export interface MeasuredParts {
  readonly storage: Storage
  readonly feed: LiveFeed
  readonly readiness: Readiness
  readonly rejected: RejectedRequests
}

/** The metrics of this start, for Prometheus. No label has a value that a client or a record chooses. */
export class Metrics {
  readonly registry = new Registry()
  readonly #requests: Counter<'method' | 'route' | 'status'>
  /** The series of `#requests`: finding one by its labels costs more than all the rest. */
  readonly #series = new Map<string, { inc(): void }>()

  constructor({ storage, feed, readiness, rejected }: MeasuredParts) {
    const registers = [this.registry]
    this.#requests = new Counter({
      name: 'sluice_receiver_requests_total',
      help: 'Requests that were answered, by method, route and status; route is unknown where there is none',
      labelNames: ['method', 'route', 'status'],
      registers,
    })
    const stored = new Counter({
      name: 'sluice_receiver_records_stored_total',
      help: 'Records that were stored, by kind',
      labelNames: ['kind'],
      registers,
    })
    for (const kind of ['logs', 'values']) stored.inc({ kind }, 0)
    const batches = new Histogram({
      name: 'sluice_receiver_batch_records',
      help: 'Records in a commit',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
      registers,
    })
    const commits = new Histogram({
      name: 'sluice_receiver_commit_seconds',
      help: 'Time from the request of a commit of records until it was on disk',
      buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5],
      registers,
    })
    storage.records.onCommit((commit) => {
      stored.inc({ kind: 'logs' }, commit.stored.logs)
      stored.inc({ kind: 'values' }, commit.stored.values)
      batches.observe(commit.records)
      commits.observe(commit.ms / 1000)
    })
    gauge('live_readers', 'Readers of GET /api/live', () => feed.readers)
    gauge('store_bytes', 'Size of the store, with its journals and the index of words', () => storage.bytes())
    gauge(
      'oldest_record_seconds',
      'Time at which the oldest record was received, in seconds since 1970; missing without records',
      async () => {
        const oldestMs = await storage.records.oldest()
        return oldestMs === undefined ? undefined : oldestMs / 1000
      },
    )
    gauge('ready', '1 if the store takes a write, else 0', async () =>
      (await readiness.refusal()) === undefined ? 1 : 0,
    )
    counter(
      'rejected_requests_total',
      'Requests of applications that were refused, as GET /api/rejected shows them',
      () => rejected.count,
    )
    counter('failed_writes_total', 'Writes to stdout and stderr that failed: their lines are lost', failedWrites)

    function counter(name: string, help: string, value: () => number): void {
      new Counter({
        name: `sluice_receiver_${name}`,
        help,
        registers,
        collect() {
          this.reset()
          this.inc(value())
        },
      })
    }

    /** Without a value the metric has no sample. */
    function gauge(name: string, help: string, value: () => number | Promise<number | undefined>): void {
      new Gauge({
        name: `sluice_receiver_${name}`,
        help,
        registers,
        async collect() {
          const now = await value()
          if (now === undefined) this.remove()
          else this.set(now)
        },
      })
    }
  }

  /** Counts an answer. */
  answered({ method, is404, routeOptions }: FastifyRequest, { statusCode: status }: FastifyReply): void {
    const route = is404 ? 'unknown' : (routeOptions.url ?? 'unknown')
    const series = `${method} ${status} ${route}`
    let counter = this.#series.get(series)
    if (counter === undefined) {
      counter = this.#requests.labels({ method, route, status })
      this.#series.set(series, counter)
    }
    counter.inc()
  }
}

/** Route beyond the API: metrics for Prometheus. */
export function metricsRoutes(app: FastifyInstance, { registry }: Metrics): void {
  app.get('/metrics', {
    schema: ours('Metrics of this start, in the text format of Prometheus', {
      200: textAnswer('text/plain', 'Metrics for Prometheus'),
    }),
    config: { scope: 'read' },
    handler: async (_request, reply) => {
      reply
        .header('cache-control', 'no-store')
        .type(registry.contentType)
        .serializer((text: unknown) => String(text))
      return registry.metrics()
    },
  })
}
