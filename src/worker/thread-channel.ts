import { BroadcastChannel, receiveMessageOnPort } from 'node:worker_threads'
import type { LaneName } from '../delivery/ledger.js'
import type { DrainMode } from './drain-requests.js'
import type { CaptureMessage } from './process-capture.js'

/** What threads of one process say to each other. */
export type ThreadMessage =
  | { readonly type: 'who' }
  | {
      readonly type: 'engine'
      readonly id: string
      readonly threadId: number
      readonly lanes: readonly LaneName[]
      readonly memory: SharedArrayBuffer
      readonly shutdownTimeoutMs: number
      readonly handleSignals: boolean
      readonly debug: boolean
      readonly spools: boolean
    }
  | {
      readonly type: 'drain'
      readonly mode: DrainMode
      readonly id: string
      readonly request: string
      readonly timeoutMs: number
    }
  | { readonly type: 'drained'; readonly request: string }
  | { readonly type: 'retired'; readonly id: string }
  | CaptureMessage

/** Reaches every other thread of the process that has loaded this package. Does not keep the process alive. */
export class ThreadChannel {
  readonly #channel = new BroadcastChannel('sluice.v1')
  readonly #receive: (message: ThreadMessage) => void

  constructor(receive: (message: ThreadMessage) => void) {
    this.#receive = receive
    this.#channel.onmessage = (event) => receive((event as { data: ThreadMessage }).data)
    ;(this.#channel as unknown as { unref(): void }).unref()
  }

  post(message: ThreadMessage): void {
    this.#channel.postMessage(message)
  }

  /** Take what other threads have said so far, without waiting for the event loop. */
  catchUp(): void {
    for (;;) {
      const received = receiveMessageOnPort(this.#channel as unknown as Parameters<typeof receiveMessageOnPort>[0])
      if (received === undefined) return
      this.#receive(received.message as ThreadMessage)
    }
  }
}
