import { reasonOf } from '../errors/text-of.js'

/** What is read of an error; serializers of pino write its name as `type`. */
export interface ErrorLike {
  readonly message: string
  readonly stack?: string
  readonly name?: string
  readonly type?: string
  readonly cause?: unknown
}

/** An Error, or what a serializer made of one. */
export function isErrorLike(value: unknown): value is ErrorLike {
  if (typeof value !== 'object' || value === null) return false
  return (
    isError(value) || (typeof readField(value, 'message') === 'string' && typeof readField(value, 'stack') === 'string')
  )
}

/** A field of anything; undefined when it throws. */
export function readField(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
}

/** A field of anything, or why it cannot be read, as a text. */
export function readOrReason(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key]
  } catch (error) {
    return `[unreadable: ${reasonOf(error)}]`
  }
}

/** Own fields of an error that its text does not show, such as `code`. */
export function errorFields(error: ErrorLike): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const key of Object.keys(error)) if (!shown.has(key)) fields[key] = readField(error, key)
  return fields
}

const shown = new Set(['type', 'name', 'message', 'stack', 'cause', 'errors', 'aggregateErrors'])

/** Members of an AggregateError, by the name that it gives them or pino's serializer does. */
export function membersOf(error: ErrorLike): readonly unknown[] {
  const members = readField(error, 'errors') ?? readField(error, 'aggregateErrors')
  return Array.isArray(members) ? members : []
}

/** What caused an error; a function in the manner of VError is asked. */
export function causeOf(error: ErrorLike): unknown {
  const cause = readField(error, 'cause')
  if (typeof cause !== 'function') return cause ?? undefined
  try {
    return cause.call(error)
  } catch {
    return undefined
  }
}

export function nameOf(error: ErrorLike): string {
  const name = readField(error, 'name') ?? readField(error, 'type')
  return typeof name === 'string' && name !== '' ? name : 'Error'
}

/** The message; empty where it is no text. */
export function writtenMessage(error: ErrorLike): string {
  const message = readField(error, 'message')
  return typeof message === 'string' ? message : ''
}

/** The stack with the error's name and message at its head, for both may have changed since it was taken. */
export function stackOf(error: ErrorLike): string {
  const name = nameOf(error)
  const message = writtenMessage(error)
  const head = message === '' ? name : `${name}: ${message}`
  const stack = readField(error, 'stack')
  if (typeof stack !== 'string' || stack === '') return head
  // What a serializer has written is as it was meant.
  if (!isError(error)) return stack
  const firstFrame = stack.search(/\n[ \t]+at /) + 1
  const oldHead = firstFrame === 0 ? stack : stack.slice(0, firstFrame)
  if (contains(oldHead, message) && contains(oldHead, name)) return stack
  return firstFrame === 0 ? `${head}\n${stack}` : `${head}\n${stack.slice(firstFrame)}`
}

/**
 * True where a text has another one in it, at the place where the first characters of that come first. A search for all of a long text in
 * a longer one may take as long as both lengths multiplied.
 */
function contains(text: string, part: string): boolean {
  const at = text.indexOf(part.slice(0, searchedChars))
  return at !== -1 && text.startsWith(part, at)
}

const searchedChars = 100

/** True for an Error; a proxy that has been revoked, or throws when it is asked, is none. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error
  } catch {
    return false
  }
}
