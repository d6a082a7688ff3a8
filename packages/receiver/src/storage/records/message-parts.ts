/** A message, taken apart as the library put it together: text, context as JSON, stacks of errors. */
export interface MessageParts {
  readonly text: string
  readonly context: Readonly<Record<string, unknown>> | undefined
  readonly error: string
}

/** Finds the context: an object in JSON at the end of a line, of the first line that has one. The time is in proportion to the message. */
export function splitMessage(message: string): MessageParts {
  for (let lineStart = 0; lineStart <= message.length; ) {
    const found = message.indexOf('\n', lineStart)
    const lineEnd = found === -1 ? message.length : found
    const start = message[lineEnd - 1] === '}' ? objectStart(message, { from: lineStart, to: lineEnd }) : undefined
    const context = start === undefined ? undefined : parsedObject(message.slice(start, lineEnd))
    if (context !== undefined) {
      return { text: message.slice(0, start).trimEnd(), context, error: message.slice(lineEnd + 1) }
    }
    lineStart = lineEnd + 1
  }
  const stack = /\n.*(?:\n.*){0,20}?\n {4}at /.exec(message)
  if (stack === null) return { text: message, context: undefined, error: '' }
  return { text: message.slice(0, stack.index), context: undefined, error: message.slice(stack.index + 1) }
}

/**
 * Where the object of JSON that ends a line begins, if one does: at the beginning of the line, or behind a space. It is read backwards, which needs no
 * guess: a quotation mark without a backslash before it begins or ends a string.
 */
function objectStart(
  message: string,
  { from, to }: { readonly from: number; readonly to: number },
): number | undefined {
  let depth = 0
  for (let at = to - 1; at >= from; at--) {
    const sign = message[at]!
    if (sign === '"') {
      at = stringStart(message, { from, end: at })
    } else if (sign === '}') depth++
    else if (sign === '{' && --depth === 0) {
      return message[at + 1] === '"' && (at === from || message[at - 1] === ' ') ? at : undefined
    }
  }
  return undefined
}

/** Where the string begins that ends here; -1 if it does not begin in the line. */
function stringStart(message: string, { from, end }: { readonly from: number; readonly end: number }): number {
  for (let at = message.lastIndexOf('"', end - 1); at >= from; at = message.lastIndexOf('"', at - 1)) {
    let backslashes = 0
    while (message[at - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return at
  }
  return -1
}

function parsedObject(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(json) as Readonly<Record<string, unknown>>
  } catch {
    return undefined
  }
}
