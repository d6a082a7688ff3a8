import type { buildConnector } from 'undici'
import type { ExitLoop } from '../../../src/http/exit-loop.js'
import type { Destination } from '../../../src/http/route.js'
import { type Dial, socketDial, type Wire, type WireEvents } from '../../../src/http/wire.js'
import type { Clock, Timer } from '../../../src/runtime/clock.js'
import { TimeHeap } from '../../support/time-heap.js'
import type { SimulatedThread } from '../simulated-thread.js'

interface Alarm {
  readonly at: number
  readonly task: () => void
  cancelled: boolean
}

export interface SimulatedExitLoopPlan {
  /** Of the thread that is blocked. */
  readonly clock: Clock
  /** Has the sockets. */
  readonly sockets: SimulatedThread
  /** Opens them. */
  readonly connect: buildConnector.connector
}

/** The loop of a thread that may not return to its event loop any more. The sockets are in a thread of their own, as in life. */
export class SimulatedExitLoop implements ExitLoop {
  readonly #plan: SimulatedExitLoopPlan
  readonly #alarms = new TimeHeap<Alarm>()
  readonly #soon: (() => void)[] = []
  #immediate: (() => void)[] = []
  /** What has come from the other thread. */
  readonly #messages: (() => void)[] = []

  constructor(plan: SimulatedExitLoopPlan) {
    this.#plan = plan
  }

  now(): number {
    return this.#plan.clock.now()
  }

  schedule(task: () => void, delayMs: number): Timer {
    const alarm: Alarm = { at: this.now() + Math.max(0, delayMs), task, cancelled: false }
    this.#alarms.add(alarm)
    return {
      cancel() {
        alarm.cancelled = true
      },
    }
  }

  soon(task: () => void): void {
    this.#soon.push(task)
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
    this.#run([])
    this.#run(this.#messages.splice(0))
    for (let first = this.#alarms.first; first !== undefined && first.at <= this.now(); first = this.#alarms.first) {
      this.#alarms.removeFirst()
      if (!first.cancelled) this.#run([first.task])
    }
    this.#run(immediate)
  }

  close(): void {
    this.#plan.sockets.kill()
  }

  #run(tasks: readonly (() => void)[]): void {
    for (const task of [() => {}, ...tasks]) {
      task()
      for (let soon = this.#soon.shift(); soon !== undefined; soon = this.#soon.shift()) soon()
    }
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
