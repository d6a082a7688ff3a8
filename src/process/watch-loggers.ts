import { subscribe, unsubscribe } from 'node:diagnostics_channel'

/** pino 9.10 and newer publish here before each line. The message names the logger. */
const lines = 'tracing:pino_asJson:start'

/**
 * Call `found` with each stream that a logger of pino writes to, as often as it does, until the returned function is called. pino makes its
 * lines a little slower meanwhile. An earlier pino tells nothing.
 */
export function watchLoggers(found: (stream: object) => void): () => void {
  const heard = (message: unknown) => {
    try {
      const stream = streamOf((message as { readonly instance: object }).instance)
      // The streams of pino.multistream.
      const { streams } = stream as { readonly streams?: readonly { readonly stream: object }[] }
      for (const each of streams?.map((entry) => entry.stream) ?? [stream]) found(each)
    } catch {
      // The logger of another pino looks different. Its lines must not fail.
    }
  }
  subscribe(lines, heard)
  return () => unsubscribe(lines, heard)
}

/** A child of a logger inherits the stream. */
function streamOf(logger: object): object {
  for (let each = logger; ; each = Object.getPrototypeOf(each)) {
    const symbol = Object.getOwnPropertySymbols(each).find(({ description }) => description === 'pino.stream')
    if (symbol !== undefined) return (each as Record<symbol, object>)[symbol]!
  }
}
