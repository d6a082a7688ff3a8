import { parseQuery } from './parse-query.js'
import type { FieldName, Query } from './query.js'

/** A text in quotation marks stands for itself. */
export function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`
}

/** The field that a name means, as it stands before a colon: undefined for a name of times, and for what is no name. */
export function fieldNamed(name: string): FieldName | undefined {
  const query = meaningOf(`${name}:*`)
  return query?.type === 'prefix' ? query.field : undefined
}

/** A field of the context as a query writes it: in quotation marks where it would mean something else without them. */
export function contextName(path: string): string {
  return fieldNamed(path) === `.${path}` ? path : quoted(path)
}

/** A condition such as `level:` with its value, in quotation marks where they are needed. Undefined for a value that cannot stand there. */
export function withValue(head: string, value: string): string | undefined {
  const [plain, inQuotes] = [head + value, head + quoted(value)]
  const [one, other] = [plain, inQuotes].map((written) => JSON.stringify(meaningOf(written)))
  if (other !== undefined) return one === other ? plain : inQuotes
  return one !== undefined && !/[\s()]/.test(value) ? plain : undefined
}

function meaningOf(written: string): Query | undefined {
  try {
    return parseQuery(written, 0)
  } catch {
    return undefined
  }
}
