import type { FastifyReply, FastifyRequest } from 'fastify'
import { type LoggerOptions, pino } from 'pino'

/** The streams of the process that can have the access log. */
export type AccessLogStream = 'stdout' | 'stderr'

const fileDescriptors: Readonly<Record<AccessLogStream, number>> = { stdout: 1, stderr: 2 }
/** Lines that come while so many wait for a reader that does not read are dropped. */
const maxWaitingBytes = 16_777_216
/** Anything that looks like an API key. */
const keys = /slk(_|%5f)[\w%-]+/gi
const options: LoggerOptions = { base: null, timestamp: pino.stdTimeFunctions.isoTime }

/** Writes a line of JSON for each request that was answered. No line has a secret. */
export class AccessLog {
  readonly #logger: pino.Logger
  readonly #destination: ReturnType<typeof pino.destination>

  constructor(stream: AccessLogStream) {
    this.#destination = pino.destination({ dest: fileDescriptors[stream], sync: false, maxLength: maxWaitingBytes })
    // A reader that has gone must not end the receiver.
    this.#destination.on('error', () => {})
    this.#logger = pino(options, this.#destination)
  }

  /** @param ms time from the head of the request to the end of the answer */
  answered(request: FastifyRequest, { raw }: FastifyReply, ms: number): void {
    const { method, url, apiKey, socket, id } = request
    this.#logger.info({
      id,
      method,
      path: shownPath(url),
      status: raw.statusCode,
      ms: Math.round(ms * 10) / 10,
      key: apiKey?.id ?? null,
      remote: socket.remoteAddress ?? null,
      ...(raw.writableFinished ? {} : { aborted: true }),
    })
  }

  /** Writes the lines that are still in memory. */
  close(): void {
    try {
      this.#destination.flushSync()
    } catch {
      // Nobody reads them any more.
    }
  }
}

/** The path and its query, without the token of the page and without keys. */
function shownPath(url: string): string {
  const [path = '', query] = url.split(/\?(.*)/s)
  const shown = path.replaceAll(keys, 'slk_…')
  if (query === undefined) return shown
  const parameters = query.split('&').filter((each) => !isToken(each))
  return parameters.length === 0 ? shown : `${shown}?${parameters.join('&').replaceAll(keys, 'slk_…')}`
}

function isToken(parameter: string): boolean {
  return new URLSearchParams(parameter).has('token')
}
