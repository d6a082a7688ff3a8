/** The text of an error for people: its stack (or name and message), then its causes. Never throws. */
export function errorText(error: unknown): string {
  const parts: string[] = []
  let current = error
  for (let depth = 0; depth < maxCauses && isErrorLike(current); depth++) {
    parts.push(`${depth === 0 ? '' : 'caused by: '}${ownText(current)}`)
    current = read(current, 'cause')
  }
  return parts.join('\n')
}

/** An Error, or what a serializer made of one. */
export function isErrorLike(value: unknown): value is ErrorLike {
  if (value instanceof Error) return true
  if (typeof value !== 'object' || value === null) return false
  return typeof read(value, 'message') === 'string' && typeof read(value, 'stack') === 'string'
}

/** Own fields of an error that its text does not show, such as `code`. */
export function errorFields(error: ErrorLike): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const key of Object.keys(error)) if (!shown.has(key)) fields[key] = read(error, key)
  return fields
}

/** What is read of an error; serializers of pino write its name as `type`. */
export interface ErrorLike {
  readonly message: string
  readonly stack?: string
  readonly name?: string
  readonly type?: string
  readonly cause?: unknown
}

const shown = new Set(['type', 'name', 'message', 'stack', 'cause'])
const maxCauses = 10

function ownText(error: ErrorLike): string {
  const stack = read(error, 'stack')
  if (typeof stack === 'string' && stack !== '') return stack
  const name = read(error, 'name') ?? read(error, 'type') ?? 'Error'
  return `${String(name)}: ${String(read(error, 'message'))}`
}

function read(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
}
