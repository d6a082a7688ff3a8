import type { FastifyInstance } from 'fastify'
import { hintFor } from '../query/hint.js'
import { type ErrorsAnswer, type ErrorsQueryString, errorsQuerySchema, errorsSchema } from '../schemas/errors.js'
import { timeOf } from '../schemas/record-queries.js'
import type { ErrorList } from '../storage/record-storage.js'
import { earliestMs, latestMs } from '../storage/records/record-times.js'
import type { Storage } from '../storage/storage.js'
import { ours, refusals } from './answers.js'
import { guard } from './guards.js'
import type { Searches } from './searches.js'

const defaultLimit = 100

/** Route beyond the API: the errors of a bucket by their kind. */
export function errorRoutes(
  app: FastifyInstance,
  { storage: { records, projects }, searches }: { readonly storage: Storage; readonly searches: Searches },
): void {
  app.get<{ Params: { bucketId: string }; Querystring: ErrorsQueryString }>('/logs/:bucketId/errors', {
    schema: {
      querystring: errorsQuerySchema,
      ...ours('Count errors by kind, the most frequent first', { 200: errorsSchema, ...refusals(404) }),
    },
    onRequest: guard(projects),
    handler: (request, reply) =>
      searches.answer({ request, reply }, async (signal) => {
        const { since, app: appName, env, limit = defaultLimit } = request.query
        const nowMs = Date.now()
        const query = {
          bucket: request.params.bucketId,
          since: since === undefined ? undefined : Math.max(timeOf(since, nowMs), earliestMs),
          appName,
          env,
          limit,
          nowMs,
        }
        const found = await records.errors(query, signal)
        const filter = { kind: 'logs', bucket: query.bucket, appName, env } as const
        const hint = found.total === 0 ? await hintFor(filter, { records, signal }) : undefined
        return { ...answerOf(found), ...(hint === undefined ? {} : { hint }) }
      }),
  })
}

function answerOf({ total, list, fromMs, stepMs }: ErrorList): ErrorsAnswer {
  return {
    total,
    list: list.map(({ firstMs, lastMs, isNew, apps, versions, sample, steps, ...kind }) => ({
      ...kind,
      firstSeen: isoOf(firstMs),
      lastSeen: isoOf(lastMs),
      apps: [...apps],
      versions: [...versions],
      sample,
      ...(isNew ? { new: true } : {}),
      steps: [...steps],
    })),
    from: isoOf(fromMs),
    stepMs,
  }
}

/** A day may begin before the year 0. It begins with it here: ISO 8601 has four digits for a year. */
function isoOf(ms: number): string {
  return new Date(Math.min(Math.max(ms, earliestMs), latestMs)).toISOString()
}
