import type { Sender } from '../delivery/sender.js'
import { type OpenSenderPlan, openExitSender, openSender } from '../http/auto-sender.js'
import { proxyFor } from '../http/proxy.js'
import type { ResolvedOptions } from '../options/options.js'
import { ApiKey } from '../options/secret.js'
import type { RecordKind } from '../records/wire.js'
import { userAgent } from '../runtime/version.js'
import type { ExitWay } from './engine-delivery.js'
import type { Machine } from './machine.js'

/** Reports a mistake in the set-up, or a sender that changed. */
export type ReportSender = (code: 'SLUICE_PIPELINING' | 'SLUICE_PROXY', text: string) => void

/** The senders of an engine: one over the loop of Node, and one for the end of the process, when this thread does not return to that loop. */
export class EngineSender {
  readonly sender: Sender
  readonly #machine: Machine
  readonly #plan: Omit<OpenSenderPlan, 'loop' | 'pipelining'>

  constructor(options: ResolvedOptions, { machine, report }: { machine: Machine; report: ReportSender }) {
    const { url, maxConnections, pipelining, requestTimeoutMs } = options
    this.#machine = machine
    this.#plan = {
      url,
      apiKey: new ApiKey(options.apiKey),
      userAgent,
      maxConnections,
      maxBatch: machine.maxBatch,
      proxyUrl: proxyOf(url, report),
      requestTimeoutMs,
      ...(machine.connection && { connection: machine.connection }),
      left: (reason) => report('SLUICE_PIPELINING', `requests are not pipelined any more: ${reason}`),
    }
    this.sender = openSender({ ...this.#plan, pipelining, loop: machine.clock })
  }

  /** Start the sender for the end, for `withinMs` at most. Undefined where no thread can be started. The one of this thread is closed. */
  startExit(withinMs: number): ExitWay | undefined {
    const { sender } = this
    // The new connections replace these. The thread starts so slowly that the service knows of their end by then.
    void sender.close()
    const loop = this.#machine.startExitLoop(withinMs)
    if (loop === undefined) return undefined
    let trouble: string | undefined
    const misread = (reason?: string) => {
      trouble =
        reason && `an answer is not understood (${reason}), and an exit has no other reader: await close() before it`
    }
    const former = (kind: RecordKind) => sender.carriage(kind)
    return { loop, sender: openExitSender({ ...this.#plan, loop, former, misread }), trouble: () => trouble }
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
