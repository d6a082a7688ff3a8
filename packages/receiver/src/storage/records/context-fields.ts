import { splitMessage } from './message-parts.js'

/** At most this number of values of a context can be looked up; the first ones of its JSON. */
const maxValues = 64
/** A value with longer JSON cannot be looked up: only that its field is there. */
const maxValueLength = 200
/** Longer names are left out, keys with dots between them. */
const maxPathLength = 200
const maxDepth = 20

/** A field of a context, without the leading dot, and its value as JSON; undefined for a value that is too long. */
export interface ContextField {
  readonly path: string
  readonly json: string | undefined
}

/**
 * The fields of the context in a message that can be looked up. Keys are joined by dots; each member of a list is a value of the list's field;
 * an object has no value of its own.
 */
export function contextFields(message: string): ContextField[] {
  const { context } = message.includes('{"') ? splitMessage(message) : { context: undefined }
  const fields: ContextField[] = []
  if (context !== undefined) addFields(fields, { path: '', value: context, depth: 0 })
  return fields
}

function addFields(
  fields: ContextField[],
  { path, value, depth }: { readonly path: string; readonly value: unknown; readonly depth: number },
): void {
  if (fields.length >= maxValues || path.length > maxPathLength || depth > maxDepth) return
  if (Array.isArray(value)) {
    for (const member of value) {
      if (fields.length >= maxValues) return
      addFields(fields, { path, value: member, depth: depth + 1 })
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const key of Object.keys(value)) {
      if (fields.length >= maxValues) return
      const member = (value as Readonly<Record<string, unknown>>)[key]
      addFields(fields, { path: depth === 0 ? key : `${path}.${key}`, value: member, depth: depth + 1 })
    }
  } else {
    const isLong = typeof value === 'string' && value.length > maxValueLength
    const json = isLong ? undefined : JSON.stringify(value)
    fields.push({ path, json: json !== undefined && json.length <= maxValueLength ? json : undefined })
  }
}
