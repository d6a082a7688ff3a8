/** A message, taken apart as the library put it together: text, context as JSON, stacks of errors. */
export interface MessageParts {
  readonly text: string
  readonly context: Readonly<Record<string, unknown>> | undefined
  readonly error: string
}

const maxLines = 50
const maxStarts = 20
const remembered = new WeakMap<object, MessageParts>()

/** The parts of a record's message. They are remembered as long as the record. */
export function partsOf(record: { readonly message: string }): MessageParts {
  let parts = remembered.get(record)
  if (parts === undefined) {
    parts = splitMessage(record.message)
    remembered.set(record, parts)
  }
  return parts
}

/** Finds the context: an object in JSON at the end of one of the first lines. */
function splitMessage(message: string): MessageParts {
  let lineStart = 0
  for (let line = 0; line < maxLines && lineStart <= message.length; line++) {
    const found = message.indexOf('\n', lineStart)
    const lineEnd = found === -1 ? message.length : found
    if (message[lineEnd - 1] === '}') {
      const start = contextStart(message, lineStart, lineEnd)
      if (start !== undefined) {
        return {
          text: message.slice(0, start.at).trimEnd(),
          context: start.context,
          error: message.slice(lineEnd + 1),
        }
      }
    }
    lineStart = lineEnd + 1
  }
  const stack = /\n.*(?:\n.*){0,20}?\n {4}at /.exec(message)
  if (stack === null) return { text: message, context: undefined, error: '' }
  return { text: message.slice(0, stack.index), context: undefined, error: message.slice(stack.index + 1) }
}

function contextStart(message: string, from: number, to: number) {
  let at = from
  for (let tries = 0; tries < maxStarts; tries++) {
    at = message.indexOf('{"', at)
    if (at === -1 || at >= to) return undefined
    if (at === from || message[at - 1] === ' ') {
      try {
        return { at, context: JSON.parse(message.slice(at, to)) as Record<string, unknown> }
      } catch {
        // A later brace may begin the context.
      }
    }
    at++
  }
  return undefined
}

/** The value at a path such as `cart.items.0`, as the text that a filter compares; undefined if there is none. */
export function contextValue(record: { readonly message: string }, path: string): string | undefined {
  let value: unknown = partsOf(record).context
  if (value === undefined) return undefined
  if (Object.hasOwn(value as object, path)) return valueText((value as Record<string, unknown>)[path])
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return valueText(value)
}

/** A value of JSON as one text. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
