import type { RecordKind } from '../records/wire.js'

/** Where the API takes each kind of record. */
const collections: Readonly<Record<RecordKind, string>> = { logs: 'logs', values: 'value_tracking' }

/** Path of the request that delivers to a bucket, below the path of the base URL. */
export function recordPath(base: URL, kind: RecordKind, bucket: string): string {
  return `${base.pathname.replace(/\/+$/, '')}/${collections[kind]}/${encodeURIComponent(bucket)}`
}
