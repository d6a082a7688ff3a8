import { oneLine } from '../errors/text-of.js'
import type { ValidationError } from '../records/wire.js'

/** The body of an answer, by its writer. */
export type AnswerBody =
  | { readonly type: 'empty' }
  | { readonly type: 'json'; readonly value: unknown }
  /** It begins like an object of the service, and breaks off. */
  | { readonly type: 'cut' }
  /** Neither empty nor JSON: the service did not write it. */
  | { readonly type: 'foreign' }

/** Read as much of a body as has come, whatever its content type. */
export function readBody(body: string): AnswerBody {
  // A byte order mark counts as white space.
  const text = body.trim()
  if (text === '') return { type: 'empty' }
  try {
    return { type: 'json', value: JSON.parse(text) as unknown }
  } catch {
    return { type: text.startsWith('{') ? 'cut' : 'foreign' }
  }
}

/** The body as a JSON object. Undefined when it is something else. */
export function readObject(body: string): Readonly<Record<string, unknown>> | undefined {
  const read = readBody(body)
  return read.type === 'json' ? objectOf(read.value) : undefined
}

export function objectOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

/** True for a web page, which no service of this API sends. */
export function isPage(body: string): boolean {
  return /^\s*<(!doctype html|html|head|body|title|h1|!--)/i.test(body)
}

/** True for an answer in the words of the API: a JSON object with a list of what is wrong, which may break off. A gateway has other words. */
export function isInWordsOfApi(body: string): boolean {
  const read = readBody(body)
  if (read.type === 'cut') return /"(validationErrors|errors)"\s*:/.test(body)
  const answer = read.type === 'json' ? objectOf(read.value) : undefined
  return answer !== undefined && ('validationErrors' in answer || 'errors' in answer)
}

/** What a gateway says in an answer, on one line: the title of its page, the message in its JSON, or its text. Empty where it says nothing. */
export function wordsOfGateway(body: string): string {
  const beginning = body.slice(0, 2000)
  const fields = readObject(body)
  const said = isPage(body)
    ? (/<title[^>]*>([^<]*)/i.exec(beginning)?.[1] ?? '')
    : fields === undefined
      ? beginning
      : joinedComplaints(readComplaints(fields))
  return boundedText(oneLine(said).trim(), maxNameLength)
}

/** The text for a success that the service did not send. */
export function foreignAnswer(status: number): string {
  return `not the service: a success (${status}) with neither JSON nor an empty body`
}

/** Bounds for the complaints about one record: enough for a person, and safe for every reader. */
const maxErrors = 20
const maxNameLength = 200
const maxMessageLength = 500
const maxReasonLength = 1000
const attemptedBounds = { depth: 6, entries: 200, characters: 2000 }
const shownBounds = { depth: 3, entries: 20, characters: maxMessageLength }

/** True for the body of a success that says no: the service has not done what it was asked. */
export function saysNo({ result, isValid, success, errors, validationErrors }: AnswerFields): boolean {
  return [result, isValid, success].includes(false) || isFilled(errors) || isFilled(validationErrors)
}

type AnswerFields = Readonly<Record<string, unknown>>

function isFilled(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== ''
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

/** The bounded complaints of an answer, in words. */
export function readComplaints({ validationErrors, errors, message }: AnswerFields): string[] {
  const others = listOf(validationErrors).filter((each) => each !== null && !isValidationError(each))
  return [
    ...readValidationErrors(validationErrors).map((each) => `${each.name}: ${each.message}`),
    ...readErrors(others),
    ...readErrors(errors),
    ...readErrors(typeof message === 'string' ? message : undefined),
  ].filter((words) => words !== '')
}

/** A service may put a text or an object in place of a list. */
function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (!isFilled(value)) return []
  const fields = objectOf(value)
  if (fields === undefined || 'message' in fields) return [value]
  const first = Object.entries(fields).slice(0, maxErrors)
  return first.map(([name, each]) => `${name}: ${shown(each, maxMessageLength)}`)
}

/** The bounded complaints of an answer about single fields. A service may put anything in place of a text. */
export function readValidationErrors(value: unknown): ValidationError[] {
  return listOf(value)
    .filter(isValidationError)
    .slice(0, maxErrors)
    .map(({ name, attemptedValue, message }) => ({
      name: shown(name, maxNameLength),
      attemptedValue: boundedValue(attemptedValue, attemptedBounds),
      message: shown(message, maxMessageLength),
    }))
}

function readErrors(value: unknown): string[] {
  return listOf(value)
    .slice(0, maxErrors)
    .map((error) => shown((error as { message?: unknown } | null)?.message ?? error, maxMessageLength))
}

/** Several complaints as one text. */
export function joinedComplaints(words: readonly string[]): string {
  return boundedText(words.join('; '), maxReasonLength)
}

function shown(value: unknown, most: number): string {
  const text = typeof value === 'string' ? value : JSON.stringify(boundedValue(value, shownBounds))
  return boundedText(text, most)
}

function isValidationError(value: unknown): value is { name: unknown; attemptedValue?: unknown; message: unknown } {
  return typeof value === 'object' && value !== null && 'name' in value && 'message' in value
}

/** Bounds for a value that a service has sent. */
export interface ValueBounds {
  /** Levels of nested arrays and objects. */
  readonly depth: number
  /** Elements and fields of all levels together. */
  readonly entries: number
  /** Characters of all texts and names together. */
  readonly characters: number
}

/** Stands in place of a part that was left out. */
const omission = '…'

/** At most `most` characters of a text, cut between characters. */
export function boundedText(text: string, most: number): string {
  if (text.length <= most) return text
  const last = text.charCodeAt(most - 1)
  const splits = last >= 0xd800 && last < 0xdc00
  return `${text.slice(0, splits ? most - 1 : most)}${omission}`
}

/**
 * A safe copy of a value from JSON: shallow enough to walk, small enough for a message, without a field `__proto__`. Parts beyond the
 * bounds are left out, and replaced by `…` where a value must stand.
 */
export function boundedValue(value: unknown, bounds: ValueBounds): unknown {
  const left = { entries: bounds.entries, characters: bounds.characters }
  const text = (whole: string) => {
    const kept = boundedText(whole, Math.max(0, left.characters))
    left.characters -= kept.length
    return kept
  }
  const keep = (each: unknown, depth: number): unknown => {
    if (typeof each === 'string') return text(each)
    if (typeof each !== 'object' || each === null) return each
    if (depth === 0) return omission
    return Array.isArray(each) ? keepList(each, depth) : keepFields(each, depth)
  }
  const keepList = (list: readonly unknown[], depth: number): unknown[] => {
    const kept: unknown[] = []
    for (const each of list) {
      if (left.entries-- <= 0) break
      kept.push(keep(each, depth - 1))
    }
    return kept
  }
  const keepFields = (fields: object, depth: number): Record<string, unknown> => {
    const kept: Record<string, unknown> = {}
    for (const [name, each] of Object.entries(fields)) {
      if (left.entries-- <= 0) break
      if (name !== '__proto__') kept[text(name)] = keep(each, depth - 1)
    }
    return kept
  }
  return keep(value, bounds.depth)
}
