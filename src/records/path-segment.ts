/**
 * True for a text that can name a bucket, a project or a content type, and so be one segment of a path. A URL loses `.` and `..`, half
 * of a surrogate pair cannot be encoded, and a name of white space or with control characters is a mistake.
 */
export function isPathSegment(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.trim() !== '' &&
    value !== '.' &&
    value !== '..' &&
    value.isWellFormed() &&
    !/\p{Cc}/u.test(value)
  )
}
