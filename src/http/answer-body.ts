/** The body of an answer, as far as it says by whom it was written. */
export type AnswerBody =
  | { readonly type: 'empty' }
  | { readonly type: 'json'; readonly value: unknown }
  /** It begins as the service's objects do, and breaks off. */
  | { readonly type: 'cut' }
  /** Neither empty nor JSON: something else than the service has answered. */
  | { readonly type: 'foreign' }

/** Read a body, whatever its content type, as far as it has come. */
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

/** The object of JSON that a body is; undefined when it is none. */
export function readObject(body: string): Readonly<Record<string, unknown>> | undefined {
  const read = readBody(body)
  return read.type === 'json' ? objectOf(read.value) : undefined
}

export function objectOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

/** The words for a success that the service did not give. */
export function foreignAnswer(status: number): string {
  return `not the service: a success (${status}) with neither JSON nor an empty body`
}
