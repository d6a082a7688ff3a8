/** A query that cannot be understood. The message says what was expected, or what should not be there, where, and what to write instead. */
export class QueryError extends Error {
  /** Number of the character where the parser stopped, from 1. */
  readonly position: number
  /** It is the fault of the request. */
  readonly statusCode = 400

  constructor(message: string, { position, advice }: { readonly position: number; readonly advice?: string }) {
    super(`q: ${message} at ${position}${advice === undefined ? '' : `: ${advice}`}`)
    this.position = position
  }
}
