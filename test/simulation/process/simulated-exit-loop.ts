import type { buildConnector } from 'undici'
import type { ExitLoop } from '../../../src/http/exit-loop.js'
import type { Destination } from '../../../src/http/route.js'
import { type Dial, socketDial, type Wire, type WireEvents } from '../../../src/http/wire.js'
import type { Clock } from '../../../src/runtime/clock.js'
import { OwnLoop } from '../../support/own-loop.js'
import type { SimulatedThread } from '../simulated-thread.js'

export interface SimulatedExitLoopPlan {
  /** Of the thread that is blocked. */
  readonly clock: Clock
  /** Has the sockets. */
  readonly sockets: SimulatedThread
  /** Opens them. */
  readonly connect: buildConnector.connector
}

/** The loop of a thread that may not return to its event loop any more. The sockets are in a thread of their own, as in life. */
export class SimulatedExitLoop extends OwnLoop implements ExitLoop {
  readonly #plan: SimulatedExitLoopPlan
  #immediate: (() => void)[] = []
  /** What has come from the other thread. */
  readonly #messages: (() => void)[] = []

  constructor(plan: SimulatedExitLoopPlan) {
    super(plan.clock)
    this.#plan = plan
  }

  immediate(task: () => void): void {
    this.#immediate.push(task)
  }

  connect({ url }: Destination): Dial {
    const dial = socketDial(this.#plan.connect, new URL(url))
    return (events) => this.#open(dial, events)
  }

  /** Run what is due. It does not wait: the world goes on between two turns. */
  turn(): void {
    const immediate = this.#immediate
    this.#immediate = []
    this.run()
    for (const message of this.#messages.splice(0)) this.run(message)
    while (this.nextAt <= this.now()) this.runTimer()
    for (const task of immediate) this.run(task)
  }

  close(): void {
    this.#plan.sockets.kill()
  }

  #open(dial: Dial, events: WireEvents): Wire {
    const { sockets } = this.#plan
    const tell = (event: () => void) => void this.#messages.push(event)
    let wire: Wire | undefined
    sockets.post(() => {
      wire = dial({
        opened: () => tell(() => events.opened()),
        received: (bytes) => tell(() => events.received(bytes)),
        // The blocked thread has copied the bytes.
        flushed() {},
        ended: () => tell(() => events.ended()),
        closed: (end) => tell(() => events.closed(end)),
      })
    })
    return {
      write: (bytes) => {
        const copy = Buffer.from(bytes)
        sockets.post(() => wire!.write(copy))
        this.soon(() => events.flushed())
      },
      end: () => sockets.post(() => wire!.end()),
      destroy: () => sockets.post(() => wire!.destroy()),
    }
  }
}
