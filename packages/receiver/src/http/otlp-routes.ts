import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import PQueue from 'p-queue'
import type { RateLimit } from '../keys/rate-limit.js'
import { readJson } from '../otlp/json.js'
import { logRecordOf } from '../otlp/log-record.js'
import { Bound, logsOf, OtlpError, type ReceivedScope, RequestBounds } from '../otlp/logs.js'
import { emptyProtobuf, readProtobuf, statusProtobuf } from '../otlp/protobuf.js'
import type { NewRecord } from '../storage/record-storage.js'
import type { Storage } from '../storage/storage.js'
import { answerFailure, complaints } from './failures.js'
import { guard } from './guards.js'
import { idempotencyHeader, idempotencyKey } from './idempotency.js'
import { BodyError } from './json-body.js'
import { excess } from './rate-limits.js'

/** Largest body of a request, in bytes; twice as much where it was compressed. */
const maxBodyBytes = 4_194_304
/** Most records in a request where no rate limit says how many. */
const maxRecords = 10_000
/** A request can have one long name, or many attributes of its resource, and many records that each repeat them. */
const maxTextLength = 33_554_432
/** Others are served after this time. */
const longestTurnMs = 5
/** Requests whose content lies in memory at a time. The others wait as they came. */
const maxReading = 2
const types = ['application/json', 'application/x-protobuf'] as const
/** gRPC's number for an argument that is not valid. */
const invalidArgument = 3
/** gRPC's number for a limit that is reached. */
const resourceExhausted = 8
const decompress = promisify(gunzip)

interface OtlpParams {
  readonly bucketId: string
}

/**
 * Route beyond the API: takes logs as OpenTelemetry's protocol sends them over HTTP, in JSON and in protobuf, plain and in gzip. A request
 * that comes again within 24 hours is stored once: with the same `idempotency-key`, or byte by byte, if one of its records has a time.
 */
export async function otlpRoutes(
  app: FastifyInstance,
  { storage: { records, projects }, limit }: { readonly storage: Storage; readonly limit: RateLimit | undefined },
): Promise<void> {
  const reading = new PQueue({ concurrency: maxReading })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>([...types], { parseAs: 'buffer' }, (request, bytes, done) => {
    if (!isProtobuf(request) && encodingOf(request) === 'identity') request.sentBody = bytes
    done(null, bytes)
  })
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if ((error.statusCode ?? 500) >= 500) return answerFailure(error, request, reply)
    // fastify would close the connection.
    reply.removeHeader('connection')
    const [complaint] = complaints(error, request)
    const code = error.statusCode === 413 ? resourceExhausted : invalidArgument
    const answer = { code, message: complaint!.message }
    return encoded(request, reply.code(error.statusCode!)).send(answer)
  })
  app.post<{ Params: OtlpParams; Body: Buffer | undefined }>('/otlp/:bucketId/v1/logs', {
    schema: {
      summary: 'Take logs in the protocol of OpenTelemetry (OTLP over HTTP)',
      tags: ['Ours'],
      consumes: [...types],
    },
    bodyLimit: maxBodyBytes,
    config: { scope: 'ingest' },
    onRequest: guard(projects),
    handler: async (request, reply) => {
      const { bucketId: bucket } = request.params
      const read = await reading.add(async () => {
        const bytes = await decoded(request)
        const bounds = new RequestBounds(limit?.perSecond ?? maxRecords)
        const scopes = isProtobuf(request) ? readProtobuf(bytes, bounds) : readJson(parsed(bytes), bounds)
        const count = scopes.reduce((sum, scope) => sum + scope.count, 0)
        const message = excess(limit, { request, reply, records: count })
        if (message !== undefined) return message
        return { bytes, ...(await mapped(scopes)) }
      })
      if (typeof read === 'string') {
        return encoded(request, reply.code(429)).send({ code: resourceExhausted, message: read })
      }
      const key = idempotencyKey(request)
      const hash = createHash('sha256')
      // Two equal requests without times may tell of two events.
      const name = key ?? (read.hasTime ? hash.update(read.bytes).digest('hex') : undefined)
      await Promise.all(
        read.mapped.map((record, index) => {
          const attempt = name === undefined ? undefined : `otlp-${name}-${index}`
          return records.append({ kind: 'logs', bucket, idempotencyKey: attempt, record })
        }),
      )
      if (key !== undefined) reply.header(idempotencyHeader, key)
      return encoded(request, reply).send({})
    },
  })
}

/** Maps the records of a request, and lets others be served meanwhile. @throws {OtlpError} for a record that is none, or too much text in all */
async function mapped(scopes: readonly ReceivedScope[]) {
  const all: NewRecord['record'][] = []
  let hasTime = false
  const text = new Bound(maxTextLength, 'characters when its records are written out')
  let turnMs = performance.now()
  for (const log of logsOf(scopes)) {
    const { record, length } = logRecordOf(log)
    hasTime ||= isSet(log.hrTime) || isSet(log.hrTimeObserved)
    text.take(length)
    all.push(record as unknown as NewRecord['record'])
    if (performance.now() - turnMs < longestTurnMs) continue
    await setImmediate()
    turnMs = performance.now()
  }
  return { mapped: all, hasTime }
}

function isSet([seconds, nanoseconds]: readonly [number, number]): boolean {
  return seconds !== 0 || nanoseconds !== 0
}

/** Sends an answer in the encoding of its request: an empty one for success, a `google.rpc.Status` for a refusal. */
function encoded(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!isProtobuf(request)) return reply.type(types[0])
  const written = (answer: { code: number; message: string } | { code?: never }) =>
    answer.code === undefined ? emptyProtobuf : statusProtobuf(answer)
  // fastify also takes bytes, unlike its types.
  return reply.type(types[1]).serializer(written as unknown as (answer: unknown) => string)
}

/** @throws {BodyError} for a body that is not gzip, or too long */
async function decoded(request: FastifyRequest<{ Body: Buffer | undefined }>): Promise<Buffer> {
  const { body: bytes = Buffer.alloc(0) } = request
  const encoding = encodingOf(request)
  if (encoding === 'identity') return bytes
  if (encoding !== 'gzip') throw new BodyError(415, `must be encoded by gzip or not at all, not by ${encoding}`)
  try {
    return await decompress(bytes, { maxOutputLength: 2 * maxBodyBytes })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw new BodyError(400, 'is not gzip')
    throw new BodyError(413, `must not have more than ${2 * maxBodyBytes} bytes when it is unpacked`)
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch (error) {
    throw new OtlpError(`is not JSON: ${(error as Error).message}`)
  }
}

function isProtobuf({ headers }: FastifyRequest): boolean {
  return headers['content-type']?.startsWith(types[1]) ?? false
}

function encodingOf({ headers }: FastifyRequest): string {
  return headers['content-encoding']?.toLowerCase() ?? 'identity'
}
