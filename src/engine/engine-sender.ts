import type { Sender } from '../delivery/sender.js'
import { openSender } from '../http/auto-sender.js'
import { proxyFor } from '../http/proxy.js'
import type { ResolvedOptions } from '../options/options.js'
import { ApiKey } from '../options/secret.js'
import { userAgent } from '../runtime/version.js'
import type { StartedSender } from './engine-delivery.js'
import type { Machine } from './machine.js'

/** Reports a mistake in the set-up, or a sender that changed. */
export type ReportSender = (code: 'SLUICE_PIPELINING' | 'SLUICE_PROXY', text: string) => void

/** The sender of an engine. At the end of the process, when this thread is blocked, a thread of its own takes its place. */
export class EngineSender {
  readonly sender: Sender
  readonly #options: ResolvedOptions
  readonly #machine: Machine
  readonly #apiKey: ApiKey
  readonly #proxyUrl: string | undefined

  constructor(options: ResolvedOptions, { machine, report }: { machine: Machine; report: ReportSender }) {
    const { url, maxConnections, pipelining, requestTimeoutMs } = options
    this.#options = options
    this.#machine = machine
    this.#apiKey = new ApiKey(options.apiKey)
    this.#proxyUrl = proxyOf(url, report)
    this.sender = openSender({
      url,
      apiKey: this.#apiKey,
      userAgent,
      maxConnections,
      maxBatch: machine.maxBatch,
      pipelining,
      proxyUrl: this.#proxyUrl,
      requestTimeoutMs,
      loop: machine.clock,
      ...(machine.connection && { connection: machine.connection }),
      left: (reason) => report('SLUICE_PIPELINING', `requests are not pipelined any more: ${reason}`),
    })
  }

  /** Start the thread, for `timeoutMs` at most. Undefined where none can be started. The sender of this thread is closed. */
  moveToThread(timeoutMs: number): StartedSender | undefined {
    // The new connections replace these. The thread starts so slowly that the service knows of their end by then.
    void this.sender.close()
    const { url, maxConnections, requestTimeoutMs } = this.#options
    const apiKey = this.#apiKey.reveal()
    const plan = { url, apiKey, userAgent, maxConnections, requestTimeoutMs, proxyUrl: this.#proxyUrl }
    return this.#machine.startSender(plan, timeoutMs)
  }
}

function proxyOf(url: string, report: ReportSender): string | undefined {
  const setting = proxyFor(url, process.env)
  if (setting.type === 'proxy') return setting.url
  if (setting.type === 'unusable') {
    report('SLUICE_PROXY', `${setting.variable} is not the URL of an HTTP proxy: it is ignored`)
  }
  return undefined
}
