import type { FastifyInstance } from 'fastify'
import {
  type CountsAnswer,
  type CountsQueryString,
  countedBy,
  countsQuerySchema,
  countsSchema,
} from '../schemas/counts.js'
import { filterOf } from '../schemas/record-queries.js'
import { msOf } from '../schemas/time.js'
import type { RecordCounts, RecordKind } from '../storage/record-storage.js'
import { earliestMs } from '../storage/records/record-times.js'
import type { Storage } from '../storage/storage.js'
import { apiAnswers } from './answers.js'
import { invalid } from './envelope.js'
import { guard } from './guards.js'
import type { Searches } from './searches.js'

/** Routes beyond the API: counts of the records of a bucket, by level or event, and by time. */
export function countsRoutes(
  app: FastifyInstance,
  { storage: { records, projects }, searches }: { readonly storage: Storage; readonly searches: Searches },
): void {
  route('/logs/:bucketId/counts', { kind: 'logs', summary: 'Count logs by level and time' })
  route('/values/:bucketId/counts', { kind: 'values', summary: 'Count values by event and time' })

  function route(url: string, { kind, summary }: { kind: RecordKind; summary: string }): void {
    app.get<{ Params: { bucketId: string }; Querystring: CountsQueryString }>(url, {
      schema: {
        querystring: countsQuerySchema(kind),
        response: apiAnswers({ 200: countsSchema }, [404]),
        summary,
        tags: ['Ours'],
      },
      onRequest: guard(projects),
      handler: (request, reply) =>
        searches.answer({ request, reply }, async (signal) => {
          const { by: _, step, ...filters } = request.query
          const stepMs = step === undefined ? undefined : msOf(step)
          const query = { ...filterOf({ kind, bucket: request.params.bucketId }, filters), stepMs }
          const found = await records.counts(query, signal)
          if (found.tooManySteps === undefined) return answerOf(found, { by: countedBy[kind], stepMs })
          const message = `step gives ${found.tooManySteps} steps with records, more than 10000: take a longer step or a shorter time`
          return reply.code(400).send(invalid(request, [{ name: 'step', attemptedValue: step, message }]))
        }),
    })
  }
}

function answerOf(
  { total, values, steps, countedSinceMs }: RecordCounts,
  { by, stepMs }: { readonly by: string; readonly stepMs: number | undefined },
): CountsAnswer {
  const others = values.reduce((rest, { records }) => rest - records, total)
  const list = steps.map(({ atMs, counts }) => ({ time: isoOf(atMs), counts: Object.fromEntries(counts) }))
  return {
    by,
    total,
    totals: Object.fromEntries(values.map(({ value, records }) => [value, records])),
    lastSeen: Object.fromEntries(values.map(({ value, lastMs }) => [value, isoOf(lastMs)])),
    ...(stepMs === undefined ? {} : { stepMs, list }),
    ...(others === 0 ? {} : { others }),
    ...(countedSinceMs === undefined ? {} : { countedSince: isoOf(countedSinceMs) }),
  }
}

/** A step may begin before the year 0. It begins with it here: ISO 8601 has four digits for a year. */
function isoOf(ms: number): string {
  return new Date(Math.max(ms, earliestMs)).toISOString()
}
