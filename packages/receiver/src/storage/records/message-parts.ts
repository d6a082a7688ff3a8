/** A message, taken apart as the library put it together: text, context as JSON, stacks of errors. */
export interface MessageParts {
  readonly text: string
  readonly context: Readonly<Record<string, unknown>> | undefined
  readonly error: string
}

const maxLines = 50
const maxStarts = 20

/** Finds the context: an object in JSON at the end of one of the first lines. */
export function splitMessage(message: string): MessageParts {
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
