import { isError } from '../errors/is-error.js'
import { reasonOf } from '../errors/text-of.js'

/** The fields that are read of an error. pino's serializers write the name as `type`. */
export interface ErrorLike {
  readonly message: string
  readonly stack?: string
  readonly name?: string
  readonly type?: string
  readonly cause?: unknown
}

/** True for an Error, and for the object that a serializer made of one. */
export function isErrorLike(value: unknown): value is ErrorLike {
  if (typeof value !== 'object' || value === null) return false
  return (
    isError(value) || (typeof readField(value, 'message') === 'string' && typeof readField(value, 'stack') === 'string')
  )
}

/** Reads a field of any object; undefined if the read throws. */
function readField(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
}

/** Reads a field of any object; if the read throws, a text with the reason. */
export function readOrReason(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key]
  } catch (error) {
    return `[unreadable: ${reasonOf(error)}]`
  }
}

/** The own fields of an error that its text does not show, such as `code`. */
export function errorFields(error: ErrorLike): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const key of Object.keys(error)) if (!shown.has(key)) fields[key] = readField(error, key)
  return fields
}

const shown = new Set(['type', 'name', 'message', 'stack', 'cause', 'errors', 'aggregateErrors'])

/** The members of an AggregateError, under its own key or that of pino's serializer. */
export function membersOf(error: ErrorLike): readonly unknown[] {
  const members = readField(error, 'errors') ?? readField(error, 'aggregateErrors')
  return Array.isArray(members) ? members : []
}

/** The cause of an error. Some error classes (VError) have it as a method. */
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

/** The message; empty if it is not a text. */
export function writtenMessage(error: ErrorLike): string {
  const message = readField(error, 'message')
  return typeof message === 'string' ? message : ''
}

/** The stack with the current name and message at its head. Both may have changed since the stack was taken. */
export function stackOf(error: ErrorLike): string {
  const name = nameOf(error)
  const message = writtenMessage(error)
  const head = message === '' ? name : `${name}: ${message}`
  const stack = readField(error, 'stack')
  if (typeof stack !== 'string' || stack === '') return head
  // A serializer has already written the stack as it should be.
  if (!isError(error)) return stack
  const firstFrame = stack.search(/\n[ \t]+at /) + 1
  const oldHead = firstFrame === 0 ? stack : stack.slice(0, firstFrame)
  if (contains(oldHead, message) && contains(oldHead, name)) return stack
  return firstFrame === 0 ? `${head}\n${stack}` : `${head}\n${stack.slice(firstFrame)}`
}

/**
 * True where a text contains another one, at the first place where the beginning of that one is found. A full search could take as long
 * as both lengths multiplied.
 */
function contains(text: string, part: string): boolean {
  const at = text.indexOf(part.slice(0, searchedChars))
  return at !== -1 && text.startsWith(part, at)
}

const searchedChars = 100
