import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { hintFor } from '../query/hint.js'
import {
  type CountsAnswer,
  type CountsQueryString,
  countedBy,
  countsQuerySchema,
  countsSchema,
} from '../schemas/counts.js'
import { msOf } from '../schemas/duration.js'
import { hintSchema, pagedSchema } from '../schemas/envelopes.js'
import { facetsSchema } from '../schemas/facets.js'
import {
  type FacetQueryString,
  facetQuerySchema,
  filterOf,
  type RecordQueryString,
  recordQuerySchema,
} from '../schemas/record-queries.js'
import { storedRecordSchemas } from '../schemas/records.js'
import type { RecordCounts, RecordKind } from '../storage/record-storage.js'
import { isNewestPage } from '../storage/records/field-conditions.js'
import { earliestMs } from '../storage/records/record-times.js'
import type { Storage } from '../storage/storage.js'
import { ours, refusals } from './answers.js'
import { invalid } from './envelope.js'
import { guard } from './guards.js'
import type { Searches } from './searches.js'

const defaultLimit = 100
/** Facets count the newest records only, so that their cost has a limit. */
const maxFacetRecords = 10_000
/** A page is cut when its search has taken this long. */
const patienceMs = 300

const ofBucketSchema = Type.Object({ bucket: Type.String() }, { additionalProperties: false, title: 'query' })
const accountSchema = Type.Object({
  repeated: Type.Object(
    { logs: Type.Integer(), values: Type.Integer() },
    { description: 'Records that came again with a known idempotency-key since the start, and were stored once' },
  ),
})

/** Routes beyond the API: read the records of a bucket, and count them. */
export function readingRoutes(
  app: FastifyInstance,
  { storage: { records, projects }, searches }: { readonly storage: Storage; readonly searches: Searches },
): void {
  pages('/logs/:bucketId', { kind: 'logs', summary: 'Read logs, newest first' })
  pages('/values/:bucketId', { kind: 'values', summary: 'Read values, newest first' })
  counts('/logs/:bucketId/counts', { kind: 'logs', summary: 'Count logs by level and time' })
  counts('/values/:bucketId/counts', { kind: 'values', summary: 'Count values by event and time' })

  function pages(url: string, { kind, summary }: { kind: RecordKind; summary: string }): void {
    const page = Type.Composite([
      pagedSchema(storedRecordSchemas[kind]),
      Type.Object({
        totalIsAtLeast: Type.Optional(Type.Literal(true, { description: 'Counting has stopped: there may be more' })),
        incomplete: Type.Optional(
          Type.Literal(true, { description: 'The search took long and was cut: it goes on from next' }),
        ),
        hint: hintSchema,
      }),
    ])
    app.get<{ Params: { bucketId: string }; Querystring: RecordQueryString }>(url, {
      schema: { querystring: recordQuerySchema, ...ours(summary, { 200: page, ...refusals(404) }) },
      onRequest: guard(projects),
      handler: async (request, reply) => {
        const { limit = defaultLimit, before, after, ...filters } = request.query
        const bucket = request.params.bucketId
        const query = { ...filterOf({ kind, bucket }, filters), limit, before, after, patienceMs }
        if (isNewestPage(query)) return records.read(query)
        return searches.answer({ request, reply }, async (signal) => {
          const found = await records.read(query, signal)
          const isFirst = before === undefined && after === undefined
          const hint = isFirst && found.list.length === 0 ? await hintFor(query, { records, signal }) : undefined
          return hint === undefined ? found : { ...found, hint }
        })
      },
    })
  }

  function counts(url: string, { kind, summary }: { kind: RecordKind; summary: string }): void {
    app.get<{ Params: { bucketId: string }; Querystring: CountsQueryString }>(url, {
      schema: { querystring: countsQuerySchema(kind), ...ours(summary, { 200: countsSchema, ...refusals(404) }) },
      onRequest: guard(projects),
      handler: (request, reply) =>
        searches.answer({ request, reply }, async (signal) => {
          const { by: _, step, ...filters } = request.query
          const stepMs = step === undefined ? undefined : msOf(step)
          const query = { ...filterOf({ kind, bucket: request.params.bucketId }, filters), stepMs }
          const found = await records.counts(query, signal)
          const hint = found.total === 0 ? await hintFor(query, { records, signal }) : undefined
          if (found.tooManySteps === undefined) return answerOf(found, { by: countedBy[kind], stepMs, hint })
          const message = `step gives ${found.tooManySteps} steps with records, more than 10000: take a longer step or a shorter time`
          return reply.code(400).send(invalid(request, [{ name: 'step', attemptedValue: step, message }]))
        }),
    })
  }

  app.get<{ Querystring: FacetQueryString }>('/facets/logs', {
    schema: {
      querystring: facetQuerySchema,
      ...ours('Count the values in the newest matching logs', { 200: facetsSchema, ...refusals(404) }),
    },
    preHandler: guard(projects),
    handler: (request, reply) => {
      const { bucket, ...filters } = request.query
      const query = { ...filterOf({ kind: 'logs', bucket }, filters), limit: maxFacetRecords }
      return searches.answer({ request, reply }, (signal) => records.facets(query, signal))
    },
  })

  app.get<{ Querystring: { readonly bucket: string } }>('/account', {
    schema: {
      querystring: ofBucketSchema,
      ...ours('Count the repeated attempts of a bucket', { 200: accountSchema, ...refusals(404) }),
    },
    preHandler: guard(projects),
    handler: async ({ query: { bucket } }) => ({ repeated: records.repeated(bucket) }),
  })
}

function answerOf(
  { total, values, steps, countedSinceMs }: RecordCounts,
  { by, stepMs, hint }: { readonly by: string; readonly stepMs: number | undefined; readonly hint: string | undefined },
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
    ...(hint === undefined ? {} : { hint }),
  }
}

/** A step may begin before the year 0. It begins with it here: ISO 8601 has four digits for a year. */
function isoOf(ms: number): string {
  return new Date(Math.max(ms, earliestMs)).toISOString()
}
