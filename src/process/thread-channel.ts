import { BroadcastChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { LaneName } from '../delivery/ledger.js'
import type { DrainMode } from '../hand-off/drain-requests.js'
import { systemClock } from '../runtime/clock.js'
import type { CaptureMessage } from './capture.js'

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
      readonly position?: SharedArrayBuffer | undefined
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

/** What a message takes from thread to thread, at most, where it cannot be read at once. */
const hearingMs = 50

/** Reaches every other thread of the process that has loaded this package. Does not keep the process alive. */
export class ThreadChannel {
  readonly #channel = new BroadcastChannel('sluice.v1')
  readonly #receive: (message: ThreadMessage) => void
  #canRead = true

  constructor(receive: (message: ThreadMessage) => void) {
    this.#receive = receive
    this.#channel.onmessage = (event) => receive((event as { data: ThreadMessage }).data)
    ;(this.#channel as unknown as { unref(): void }).unref()
  }

  post(message: ThreadMessage): void {
    this.#channel.postMessage(message)
  }

  /** Whether that is heard at once which other threads say, as far as is known. */
  get hearsAtOnce(): boolean {
    return this.#canRead
  }

  /** Take what other threads have said so far, without waiting for the event loop. */
  catchUp(): void {
    for (let message = this.#read(); message !== undefined; message = this.#read()) this.#receive(message)
  }

  /** Wait until what other threads have said before is heard: no time where it can be read, a moment where it must be waited for. */
  async heard(): Promise<void> {
    this.catchUp()
    if (!this.#canRead) await new Promise<void>((resolve) => systemClock.schedule(resolve, hearingMs))
  }

  #read(): ThreadMessage | undefined {
    if (!this.#canRead) return undefined
    try {
      return receiveMessageOnPort(this.#channel as unknown as MessagePort)?.message
    } catch {
      // Deno reads no BroadcastChannel in this way: what is said is heard in the next turns of the event loop.
      this.#canRead = false
      return undefined
    }
  }
}
