import type { FastifyReply, FastifyRequest } from 'fastify'
import { type LoggerOptions, pino } from 'pino'
import { shownPath } from './shown-path.js'

/** The streams of the process that can have the access log. */
export type AccessLogStream = 'stdout' | 'stderr'

const fileDescriptors: Readonly<Record<AccessLogStream, number>> = { stdout: 1, stderr: 2 }
/** Lines that come while so many wait for a reader that does not read are dropped. */
const maxWaitingBytes = 16_777_216
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
