/** An event of a stream. */
export interface ServerSentEvent {
  readonly event: string
  readonly id: string | undefined
  readonly data: string
}

/** No line is longer, in characters. The receiver sends about 1 MiB in one event. */
const maxLineChars = 16_777_216

/**
 * The events of a stream of bytes. An event that breaks off at the end of the stream is left out.
 *
 * @throws {Error} for a line that is too long
 */
export async function* serverSentEvents(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  let fields = new Map<string, string>()
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > maxLineChars) throw new Error(`an event has more than ${maxLineChars} characters`)
    for (const line of lines) {
      const [, name, value] = /^([^:\r]+):? ?([^\r]*)/.exec(line) ?? []
      if (name !== undefined && value !== undefined) {
        const before = name === 'data' ? fields.get(name) : undefined
        fields.set(name, before === undefined ? value : `${before}\n${value}`)
      } else if (line === '' || line === '\r') {
        const data = fields.get('data')
        if (data !== undefined) yield { event: fields.get('event') ?? 'message', id: fields.get('id'), data }
        fields = new Map()
      }
    }
  }
}
