/** An event of a stream of server-sent events. */
export interface StreamEvent {
  readonly type: string
  readonly data: string
  readonly id: string | undefined
}

/** Reads server-sent events from a body, one by one. Comments and `retry` are passed over. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  let rest = ''
  const decoder = new TextDecoder()
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const blocks = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/)
      rest = blocks.pop()!
      for (const block of blocks) {
        const event = eventOf(block)
        if (event !== undefined) yield event
      }
    }
  } finally {
    reader.releaseLock()
  }
}

function eventOf(block: string): StreamEvent | undefined {
  const fields = new Map<string, string>()
  for (const line of block.split(/\r?\n/)) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? []
    if (name === undefined) continue
    const before = name === 'data' ? fields.get(name) : undefined
    fields.set(name, before === undefined ? value! : `${before}\n${value}`)
  }
  const data = fields.get('data')
  return data === undefined ? undefined : { type: fields.get('event') ?? 'message', data, id: fields.get('id') }
}
