/** A query that cannot be understood. The message says what was expected, and where. */
export class QueryError extends Error {
  /** Number of the character where the parser stopped, from 1. */
  readonly position: number
  /** It is the fault of the request. */
  readonly statusCode = 400

  constructor(message: string, position: number) {
    super(`q: ${message} at ${position}`)
    this.position = position
  }
}
