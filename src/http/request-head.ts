import type { RecordKind } from '../records/wire.js'

/** Where the API takes each kind of record. */
const collections: Readonly<Record<RecordKind, string>> = { logs: 'logs', values: 'value_tracking' }

/** Path of the request that delivers to a bucket, below the path of the base URL. */
export function recordPath(base: URL, kind: RecordKind, bucket: string): string {
  return `${base.pathname.replace(/\/+$/, '')}/${collections[kind]}/${encodeURIComponent(bucket)}`
}

/** No answer of the service is longer; of what comes beyond it nothing is read. */
export const maxBodyBytes = 65_536

/** The headers that every request has, whichever record it carries. */
export function requestHeaders({ apiKey, userAgent }: { apiKey: string; userAgent: string }): Record<string, string> {
  return {
    'x-api-key': apiKey,
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': userAgent,
  }
}
