import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it was sent; null if it was not read. */
    sentBody: Buffer | null
  }
}

/** A body that cannot be read. The message is a predicate: "body" goes before it. */
export class BodyError extends Error {
  readonly statusCode: 400 | 413 | 415

  constructor(statusCode: BodyError['statusCode'], message: string) {
    super(message)
    this.name = 'BodyError'
    this.statusCode = statusCode
  }
}

/**
 * Bodies are JSON in UTF-8 and are never repaired. `__proto__` is a normal field, which no schema lists. An empty body counts as no body,
 * whatever its content type is.
 */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.decorateRequest('sentBody', null)
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    request.sentBody = bytes
    const { 'content-encoding': encoding = 'identity' } = request.headers
    if (encoding !== 'identity') return done(new BodyError(415, `must not be encoded, as ${encoding} does`))
    if (bytes.length === 0) return done(null, undefined)
    if (!isUtf8(bytes)) return done(new BodyError(400, 'is not UTF-8'))
    let body: unknown
    try {
      body = JSON.parse(textOf(bytes))
    } catch (error) {
      return done(new BodyError(400, `is not JSON: ${(error as Error).message}`))
    }
    done(null, body)
  })
}

/** Decodes without the byte order mark that some programs write. */
function textOf(bytes: Buffer): string {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.toString('utf8', 3) : bytes.toString()
}
