import { isPathSegment } from '../records/path-segment.js'
import { argumentError } from './argument-error.js'

export { isPathSegment }

/** One segment of a path; a text that could become two of them, or none, is the caller's mistake. */
export function pathSegment(name: string, value: unknown): string {
  if (isPathSegment(value)) return encodeURIComponent(value)
  throw argumentError(name, { expected: 'a name', got: value })
}
