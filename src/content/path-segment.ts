import { argumentError } from './argument-error.js'

/** One segment of a path; a text that could become two of them, or none, is the caller's mistake. */
export function pathSegment(name: string, value: unknown): string {
  if (isPathSegment(value)) return encodeURIComponent(value)
  throw argumentError(name, { expected: 'a name', got: value })
}

/** Whether it can be one, as the names of projects and content types must be. */
export function isPathSegment(value: unknown): value is string {
  return typeof value === 'string' && !['', '.', '..'].includes(value) && value.isWellFormed()
}
