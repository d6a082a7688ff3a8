import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Failure } from '../schemas/envelopes.js'

/** A larger answer is sent in pieces of this size, in bytes. */
const pieceBytes = 65_536
/** Bytes of larger answers that may wait for their clients, in all, and of one key. */
const maxWaitingBytes = { inAll: 67_108_864, ofOne: 16_777_216 } as const
/** A client that takes nothing for this time loses its connection. It may take twice the time: Node looks once more where a part went out since its last write. */
const stalledMs = 15_000

/** Sends large answers in pieces, and bounds what waits in memory for clients that do not read. Beyond the bound the answer is 503. */
export function sendLargeAnswers(app: FastifyInstance): void {
  let inAll = 0
  const waiting = new Map<string, number>()
  app.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string' || payload.length <= pieceBytes) return payload
    // A question of the receiver to itself comes over no connection, and its answer does not wait.
    if (!(request.raw.socket instanceof Socket)) return payload
    const bytes = Buffer.from(payload)
    const owner = ownerOf(request)
    const ofOwner = (waiting.get(owner) ?? 0) + bytes.length
    if (inAll + bytes.length > maxWaitingBytes.inAll || ofOwner > maxWaitingBytes.ofOne) {
      reply.code(503).header('retry-after', 1)
      const message =
        'answers of many MB wait for clients that do not read them: read those first, or ask for smaller pages'
      return JSON.stringify({ success: false, errors: [{ correlationId: request.id, message }] } satisfies Failure)
    }
    inAll += bytes.length
    waiting.set(owner, ofOwner)
    reply.raw.once('close', () => {
      inAll -= bytes.length
      const left = waiting.get(owner)! - bytes.length
      if (left === 0) waiting.delete(owner)
      else waiting.set(owner, left)
    })
    // Node takes each piece that goes out for a sign of life.
    reply.raw.setTimeout(stalledMs)
    reply.header('content-length', bytes.length)
    return Readable.from(piecesOf(bytes), { objectMode: false })
  })
}

/** The key of a request; the sessions of the page are one. */
export function ownerOf({ apiKey }: FastifyRequest): string {
  return apiKey?.id ?? 'page'
}

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}
