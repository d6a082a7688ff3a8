import { BroadcastChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { LaneName } from '../delivery/ledger.js'
import { runtimeIdentity } from '../options/identity.js'
import { runtimes } from '../records/wire.js'
import { systemClock } from '../runtime/clock.js'
import type { LevelChange } from '../runtime/shared-level.js'
import type { CaptureMessage } from './capture.js'
import type { NameMessage } from './logger-name.js'
import type { OffMessage } from './off-reasons.js'
import type { QueueCapacity } from './queue-capacity.js'
import type { RejectionsMessage } from './recent-rejections.js'

/** Messages between the threads of one process. */
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
      /** Undefined from a copy of the package that is older than this field. */
      readonly capacity?: QueueCapacity | undefined
      readonly position?: SharedArrayBuffer | undefined
      readonly systemThread?: number | undefined
    }
  | { readonly type: 'retired'; readonly id: string }
  | RejectionsMessage
  | LevelMessage
  | CaptureMessage
  | OffMessage
  | NameMessage

/** The last change of the level, for threads that do not share the sender's memory. */
export interface LevelMessage {
  readonly type: 'level'
  readonly change: LevelChange
}

/** Bun finds nothing in a BroadcastChannel in this way, and Deno throws. There the messages come as events alone. */
const readsSynchronously = runtimeIdentity().runtime === runtimes.node

/** Longest time of a message from thread to thread, where messages cannot be read synchronously. */
const messageMs = 50

/** Reaches every other thread of the process that has loaded this package. Does not keep the process alive. */
export class ThreadChannel {
  readonly #channel = new BroadcastChannel('sluice.v2')
  readonly #receive: (message: ThreadMessage) => void

  constructor(receive: (message: ThreadMessage) => void) {
    this.#receive = receive
    this.#channel.onmessage = (event) => receive((event as { data: ThreadMessage }).data)
    ;(this.#channel as unknown as { unref(): void }).unref()
  }

  post(message: ThreadMessage): void {
    this.#channel.postMessage(message)
  }

  /** Receive the messages that have been sent so far, without waiting for the event loop. */
  catchUp(): void {
    for (let message = this.#read(); message !== undefined; message = this.#read()) this.#receive(message)
  }

  /** Resolves when the messages that have been sent before are received. */
  async caughtUp(): Promise<void> {
    this.catchUp()
    if (!readsSynchronously) await new Promise<void>((resolve) => systemClock.schedule(resolve, messageMs))
  }

  #read(): ThreadMessage | undefined {
    if (!readsSynchronously) return undefined
    return receiveMessageOnPort(this.#channel as unknown as MessagePort)?.message
  }
}
