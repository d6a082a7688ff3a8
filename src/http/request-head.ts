import type { RecordKind } from '../records/wire.js'
import { proxyCredentials } from './proxy.js'

/** Path of the API for each kind of record. */
const collections: Readonly<Record<RecordKind, string>> = { logs: 'logs', values: 'value_tracking' }

/** Path of the request that delivers to a bucket, below the path of the base URL. */
export function recordPath(base: URL, kind: RecordKind, bucket: string): string {
  return `${base.pathname.replace(/\/+$/, '')}/${collections[kind]}/${encodeURIComponent(bucket)}`
}

/** No answer of the service has a longer body. Nothing is read beyond it. */
export const maxBodyBytes = 65_536
/** So much is kept of a body that is too long. It shows the kind of server that answered. */
export const beginningBytes = 1024

/** The headers that all requests have. */
export function requestHeaders({ apiKey, userAgent }: { apiKey: string; userAgent: string }): Record<string, string> {
  return {
    'x-api-key': apiKey,
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': userAgent,
  }
}

/** The parts that all requests of a lane have. */
export interface RequestOrigin {
  readonly base: URL
  readonly kind: RecordKind
  readonly bucket: string
  readonly userAgent: string
  /** The proxy that gets the requests. @default none */
  readonly proxyUrl?: string | undefined
}

/** The head of a lane's requests on the wire, up to the value of `idempotency-key`. */
export interface PrebuiltHead {
  readonly apiKey: string
  /** Undefined when the key has characters that no header may have. */
  readonly bytes: Buffer | undefined
}

const headerValue = /^[\t\x20-\x7e]*$/

export function prebuiltHead({ base, kind, bucket, userAgent, proxyUrl }: RequestOrigin, apiKey: string): PrebuiltHead {
  if (!headerValue.test(apiKey)) return { apiKey, bytes: undefined }
  const credentials = proxyUrl === undefined ? undefined : proxyCredentials(new URL(proxyUrl))
  const headers = {
    host: base.host,
    ...(credentials !== undefined && { 'proxy-authorization': credentials }),
    ...requestHeaders({ apiKey, userAgent }),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const origin = proxyUrl === undefined ? '' : base.origin
  const text = `POST ${origin}${recordPath(base, kind, bucket)} HTTP/1.1\r\n${lines.join('')}idempotency-key: `
  return { apiKey, bytes: Buffer.from(text, 'latin1') }
}
