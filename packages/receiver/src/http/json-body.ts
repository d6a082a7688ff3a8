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
    if (hasMoreValues(bytes)) return done(new BodyError(413, `must not have more than ${maxValues} values`))
    let body: unknown
    try {
      body = JSON.parse(textOf(bytes))
    } catch (error) {
      return done(new BodyError(400, `is not JSON: ${(error as Error).message}`))
    }
    done(null, body)
  })
}

/**
 * A content type with as many fields as it may have takes 3,000. To read a hundred thousand, to check them, and to name all that are wrong would
 * hold up others.
 */
const maxValues = 5000
const [quote, backslash, comma, bracket, brace] = Buffer.from('"\\,[{')

/** Counts before the text is parsed. */
function hasMoreValues(json: Buffer): boolean {
  if (json.length < 2 * maxValues) return false
  let values = 0
  let inText = false
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === quote) inText = !inText
    else if (inText) at += byte === backslash ? 1 : 0
    else if ((byte === comma || byte === bracket || byte === brace) && ++values > maxValues) return true
  }
  return false
}

/** Decodes without the byte order mark that some programs write. */
function textOf(bytes: Buffer): string {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.toString('utf8', 3) : bytes.toString()
}
