import { AsyncResource } from 'node:async_hooks'
import type { ServerResponse } from 'node:http'
import { quoted } from '../errors/text-of.js'

/** A logger of pino or winston, or another one with the same methods. */
export interface RequestLogger {
  /** Takes the line of a request with a status below 500. */
  info(...all: never[]): unknown
  /** Takes the line of a request with a status from 500 on. */
  error(...all: never[]): unknown
}

/** Facts about a request that are known when it has ended. */
export interface RequestFacts {
  readonly method: string | undefined
  /** Path and query. */
  readonly url: string | undefined
  /** Pattern of the route, such as `/orders/:id`. */
  readonly route: string | undefined
}

interface Ending {
  readonly logger: () => RequestLogger
  readonly facts: () => RequestFacts
}

/**
 * Logs one line when a response has ended or its client has gone away, in the context in which this was called. The level is `error` for a
 * status from 500 on, else `info`.
 */
export function logAtEnd(response: ServerResponse, { logger, facts }: Ending): void {
  const startedAt = performance.now()
  const log = () => {
    const { method, url = '', route } = facts()
    const isAborted = !response.writableFinished
    const status = !isAborted || response.headersSent ? response.statusCode : undefined
    const fields = {
      method,
      ...(route === undefined ? { path: pathOf(url) } : { route }),
      ...(status === undefined ? {} : { status }),
      ...(isAborted ? { aborted: true } : {}),
      durationMs: Math.round((performance.now() - startedAt) * 10) / 10,
    }
    write(logger(), { severe: status !== undefined && status >= 500, fields })
  }
  response.once(
    'close',
    AsyncResource.bind(() => {
      try {
        log()
      } catch {
        // A logger or a getter of the application threw. Nothing waits for this line.
      }
    }),
  )
}

/** The path of a URL, without its query. */
export function pathOf(url: string): string {
  return url.split(/[?#]/, 1)[0]!
}

/** @throws {TypeError} if the option is no logger */
export function checkLogger(logger: unknown): RequestLogger {
  const { info, error } = (logger ?? {}) as Partial<RequestLogger>
  if (typeof info === 'function' && typeof error === 'function') return logger as RequestLogger
  throw new TypeError(`option logger: expected a logger of pino or winston, got ${quoted(logger)}`)
}

interface Line {
  readonly severe: boolean
  readonly fields: object
}

const message = 'request'

/** winston takes the message first. */
function write(logger: RequestLogger, { severe, fields }: Line): void {
  const all = 'transports' in logger ? [message, fields] : [fields, message]
  const { [severe ? 'error' : 'info']: log } = logger as Record<'error' | 'info', (...all: unknown[]) => unknown>
  log.apply(logger, all)
}
