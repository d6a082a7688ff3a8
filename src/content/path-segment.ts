import { isPathSegment } from '../records/wire.js'
import { argumentError } from './api-error.js'

/** One segment of a path. Throws for a text that cannot be exactly one. */
export function pathSegment(name: string, value: unknown): string {
  if (isPathSegment(value)) return encodeURIComponent(value)
  throw argumentError(name, { expected: 'a name', got: value })
}
