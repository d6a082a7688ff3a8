import { isOutOfSpace } from '../out-of-space.js'
import { StoreUnavailableError } from '../store-unavailable.js'

/** An error of PostgreSQL has a code of five characters (SQLSTATE); one of the network has a word. */
export function codeOf(error: unknown): string {
  return String((error as { readonly code?: unknown } | undefined)?.code ?? '')
}

/** Codes after which the same transaction may succeed at once: serialization failure, deadlock. */
const transient = new Set(['40001', '40P01'])
/** Codes of a server that does not take writes now: read-only, a transaction that stood still, shutting down, starting, too many connections, lock not available. */
const unavailable = /^(08|53|57P|25006|25P03|55P03|57014)/
/** No partition for the row: 23514 is also the code of other checks, which these tables do not have. */
const noPartition = '23514'

/** True for a query that the server has ended because of `statement_timeout`. */
export function isTooSlow(error: unknown): boolean {
  return codeOf(error) === '57014'
}

/** True for a statement that has waited too long for a row that another transaction has locked. */
export function isLocked(error: unknown): boolean {
  return codeOf(error) === '55P03'
}

export function isTransient(error: unknown): boolean {
  return transient.has(codeOf(error))
}

export function lacksPartition(error: unknown): boolean {
  return codeOf(error) === noPartition
}

/** True for an error that says that an object exists already: two processes have made it at once. */
export function existsAlready(error: unknown): boolean {
  return ['23505', '42P07', '42P06', '42710'].includes(codeOf(error))
}

/** True for the error of a pool none of whose connections was there in time. */
export function waitedForConnection(error: unknown): boolean {
  return messageOf(error) === 'timeout exceeded when trying to connect'
}

/** Messages of pg about a connection. */
const ofConnection = /connect|terminated|timeout|queryable|pool|backend|SSL/i

/** True for an error that says nothing about the statement: the server or the way to it has failed. */
export function isUnavailable(error: unknown): boolean {
  const code = codeOf(error)
  // An error of the network has a code such as EPIPE. One that pg makes itself, such as "Connection terminated unexpectedly", has none.
  if (code === '') return ofConnection.test(messageOf(error)) && !(error instanceof TypeError)
  return code.startsWith('E') || unavailable.test(code)
}

/** The error that a caller of the storage sees. */
export function storageError(error: unknown, name: string): unknown {
  if (error instanceof StoreUnavailableError || isOutOfSpace(error)) return error
  if (!isUnavailable(error) && !isTransient(error)) return error
  return new StoreUnavailableError(`the database ${name} cannot be used: ${messageOf(error)}`, { cause: error })
}

/** The message for people. Errors of several addresses of one host have no message of their own. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
