import { subscribe } from 'node:diagnostics_channel'
import { threadId } from 'node:worker_threads'
import type { RejectedMessage } from '../diagnostics/channel-messages.js'
import { systemClock, type Timer } from '../runtime/clock.js'
import { maxHeld, SharedRejections } from './shared-rejections.js'

/** Tells other threads where the rejected records of this one are. */
export interface RejectionsMessage {
  readonly type: 'rejections'
  readonly threadId: number
  readonly memory: SharedArrayBuffer
}

/** Other threads see rejected records this often, at most. */
const gatherMs = 100

/** The last rejected records of the process: those of this thread come by `node:diagnostics_channel`, those of others by shared memory. */
export class RecentRejections {
  readonly #post: (message: RejectionsMessage) => void
  /** Records of this thread, and of threads that are gone. */
  #held: readonly RejectedMessage[] = []
  /** Records of this thread, for the others. */
  #own: SharedRejections | undefined
  /** The rejected records of other threads. */
  readonly #others = new Map<number, SharedRejections>()
  #timer: Timer | undefined

  constructor(post: (message: RejectionsMessage) => void) {
    this.#post = post
    subscribe('sluice:rejected', (message) => this.#add(message as RejectedMessage))
  }

  /** The newest is last. */
  get list(): readonly RejectedMessage[] {
    return newest([...this.#held, ...[...this.#others.values()].flatMap(({ list }) => list)])
  }

  receive({ threadId, memory }: RejectionsMessage): void {
    this.#others.set(threadId, new SharedRejections(memory))
  }

  /** A thread has closed an engine, or has ended: keep what it has told so far. */
  keep(thread: number): void {
    this.#held = newest([...this.#held, ...(this.#others.get(thread)?.list ?? [])])
    this.#others.delete(thread)
  }

  /** Show them to other threads at once. */
  show(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#own?.write()
  }

  /** The same for the last time: the others keep what they have seen. */
  showLast(): void {
    this.show()
    this.#own = undefined
  }

  /** A thread asks for what it has missed. */
  tell(): void {
    if (this.#own !== undefined) this.#post({ type: 'rejections', threadId, memory: this.#own.memory })
  }

  #add(message: RejectedMessage): void {
    // An older copy of the package leaves the record and the time out.
    if (!Number.isFinite(message.at)) return
    this.#held = newest([...this.#held, message])
    if (this.#own === undefined) {
      this.#own = new SharedRejections()
      this.tell()
    }
    this.#own.add(message)
    this.#timer ??= systemClock.schedule(() => this.show(), gatherMs)
  }
}

function newest(rejected: readonly RejectedMessage[]): readonly RejectedMessage[] {
  return rejected.toSorted((a, b) => a.at - b.at).slice(-maxHeld)
}
