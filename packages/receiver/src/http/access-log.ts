import { setTimeout } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type LoggerOptions, pino } from 'pino'
import { writeFailed } from '../stderr.js'
import { shownPath } from './shown-path.js'

/** The streams of the process that can have the access log. */
export type AccessLogStream = 'stdout' | 'stderr'

const fileDescriptors: Readonly<Record<AccessLogStream, number>> = { stdout: 1, stderr: 2 }
/** Lines are dropped while this number waits for a reader that does not read. */
const maxWaitingBytes = 16_777_216
const options: LoggerOptions = { base: null, timestamp: pino.stdTimeFunctions.isoTime }

/** Writes a line of JSON for each request that was answered. No line has a secret. */
export class AccessLog {
  readonly #logger: pino.Logger
  readonly #destination: ReturnType<typeof pino.destination>

  constructor(stream: AccessLogStream) {
    this.#destination = pino.destination({ dest: fileDescriptors[stream], sync: false, maxLength: maxWaitingBytes })
    this.#destination.on('error', writeFailed)
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

  /** Writes the lines that are still in memory, as far as a second allows. */
  async close(): Promise<void> {
    const written = new Promise((resolve) => this.#destination.once('close', resolve).once('error', resolve))
    this.#destination.end()
    await Promise.race([written, setTimeout(lastLinesMs, undefined, { ref: false })])
    // The destination would write what is left when the process exits, for ever where the disk is full.
    this.#destination.destroy()
  }
}

const lastLinesMs = 1000
