import type { Backing } from '../log/backing.js'
import type { Timer } from '../runtime/clock.js'
import type { Loop } from '../runtime/loop.js'
import { outsideTasks } from '../runtime/own-context.js'
import type { Batch, BatchOwner } from './batch.js'
import type { Command, Event, Report } from './events.js'
import type { Flight, Lane } from './lane.js'
import type { Machine } from './machine.js'
import type { Observer } from './observer.js'
import type { FlushTime } from './plan.js'
import type { Reach } from './reach.js'
import type { Outcome, Sender } from './sender.js'

interface DriverPlan {
  readonly machine: Machine
  readonly sender: Sender
  readonly backing: Backing
  readonly loop: Loop
  readonly reach: Reach
  /** What it throws is ignored. */
  readonly observer: Observer
}

/** Does what the machine wants, over a loop: the one of Node, or one of our own at the end of a process. */
export class Driver implements BatchOwner {
  readonly #plan: DriverPlan
  #loop: Loop
  #sender: Sender
  readonly #due = new Set<Lane>()
  /** Events that came while the machine worked or its commands were carried out. */
  readonly #events: Event[] = []
  #isBusy = false
  #timer: Timer | undefined
  /** On the clock. */
  #tickAt = Number.POSITIVE_INFINITY
  readonly #sent = new Map<Batch, { readonly flight: Flight; readonly places: readonly number[] | undefined }>()
  readonly #drained = new Map<number, () => void>()
  #lastDrain = 0

  constructor(plan: DriverPlan) {
    this.#plan = plan
    this.#loop = plan.loop
    this.#sender = plan.sender
  }

  /** Records have come to the lane. Records of the same turn of the loop share the first batch. */
  due(lane: Lane): void {
    const isFirst = this.#due.size === 0
    if (isFirst && !this.#plan.backing.takes && this.#isTimed(lane)) return
    this.#due.add(lane)
    if (isFirst) this.#loop.soon(this.#came)
  }

  /** Tell the machine what has happened. */
  happened(event: Event): void {
    this.#events.push(event)
    if (this.#isBusy) return
    this.#isBusy = true
    outsideTasks(this.#work)
  }

  onSettle(batch: Batch, index: number, outcome: Outcome, count: number): void {
    const sent = this.#sent.get(batch)
    if (sent === undefined) return
    const { flight, places } = sent
    if (places === undefined) this.happened({ type: 'settled', flight, index, count, outcome })
    else {
      for (const place of places.slice(index, index + count)) {
        this.happened({ type: 'settled', flight, index: place, count: 1, outcome })
      }
    }
  }

  onDone(batch: Batch): void {
    const sent = this.#sent.get(batch)
    this.#sent.delete(batch)
    if (sent !== undefined) this.happened({ type: 'done', flight: sent.flight })
  }

  /** Wait until the records that were accepted so far are settled, until the deadline at the latest. */
  drain(
    { timeoutMs, holdsProcess = true, brief = false }: FlushTime,
    { last, drained }: { readonly last: boolean; readonly drained: () => void },
  ): { readonly end: () => void } {
    const id = ++this.#lastDrain
    const end = () => this.happened({ type: 'drainOver', id })
    const timer = this.#loop.schedule(end, timeoutMs, holdsProcess)
    this.#drained.set(id, () => {
      timer.cancel()
      drained()
    })
    this.happened({ type: 'drain', id, deadline: this.#loop.now() + timeoutMs, last, brief })
    return { end }
  }

  /** What is in flight is given up: the process ends, and an answer would come too late. */
  abandon(): void {
    // It may end inside a listener, which never returns.
    this.#isBusy = false
    this.happened({ type: 'abandon' })
  }

  /** {@link abandon}. From here on another loop and another sender do the work. */
  moveTo(loop: Loop, sender: Sender): void {
    this.abandon()
    this.#timer?.cancel()
    this.#timer = undefined
    this.#loop = loop
    this.#sender = sender
  }

  /** What is in flight is given up, and nothing is sent any more. */
  stop(): void {
    this.happened({ type: 'abandon' })
    this.happened({ type: 'stop' })
    this.#timer?.cancel()
    this.#timer = undefined
  }

  /** {@link stop} at the end of the process, which may have come inside a listener. */
  leave(): void {
    this.#isBusy = false
    this.stop()
  }

  readonly #came = (): void => {
    // Also while nothing is sent, a record is on disk at the end of the turn in which it came.
    this.#plan.backing.commit()
    const lanes = [...this.#due]
    this.#due.clear()
    for (const lane of lanes) if (!this.#isTimed(lane)) this.happened({ type: 'came', lane })
  }

  /** The tick that is set asks for what the lane gathers before the gathering ends: nothing has to be done for what comes to it now. */
  #isTimed(lane: Lane): boolean {
    const isSet = this.#timer !== undefined && this.#tickAt <= lane.gathersUntil
    return isSet && this.#plan.machine.isGathering(lane, this.#loop.now())
  }

  readonly #work = (): void => {
    let mayChange = false
    try {
      for (let event = this.#events.shift(); event !== undefined; event = this.#events.shift()) {
        // An outcome alone changes no moment: the end of its batch does.
        mayChange ||= event.type !== 'settled'
        for (const command of this.#plan.machine.step(event, this.#loop.now())) this.#do(command)
      }
    } finally {
      this.#isBusy = false
    }
    if (mayChange) this.#wake()
  }

  #do(command: Command): void {
    if (command.type === 'send') this.#send(command)
    else if (command.type === 'tell') this.#tell(command.report)
    else {
      this.#drained.get(command.id)?.()
      this.#drained.delete(command.id)
    }
  }

  #send({ flight, again }: Command & { readonly type: 'send' }): void {
    const batch = again?.batch ?? flight.batch
    this.#plan.backing.commit()
    const { length } = batch
    const isLater = batch.load() === 'later'
    const isShorter = batch.length < length
    if (isShorter && again === undefined) flight.shorten()
    if (isLater && again === undefined) this.happened({ type: 'later', flight })
    else if (isLater || batch.length === 0 || (isShorter && again !== undefined))
      this.happened({ type: 'done', flight })
    else {
      if (again !== undefined) batch.detach()
      this.#sent.set(batch, { flight, places: again?.places })
      try {
        this.#sender.send(batch)
      } catch {
        // A fault of ours must not reach the application. What has no outcome yet gets no answer.
        this.onDone(batch)
      }
    }
  }

  #tell(report: Report): void {
    const { observer, reach } = this.#plan
    if (report.type === 'unreachable') {
      observer.unreachable?.()
      return
    }
    const { name } = report.lane
    switch (report.type) {
      case 'rejected':
        observer.rejected(name, { ...report.rejection, body: report.body })
        break
      case 'paused':
        observer.paused(name, report.refusal)
        break
      case 'outage':
        observer.outage(name, reach.isNowhere ? { reason: report.reason, isTold: true } : { reason: report.reason })
        break
      case 'resumed':
        observer.resumed(name)
        break
      case 'recovered':
        observer.recovered(name, report.losses)
        break
    }
  }

  /** Sets the one timer to the moment at which the machine has to be asked again. */
  #wake(): void {
    const at = this.#plan.machine.nextTick
    if (this.#timer !== undefined && this.#tickAt <= at) return
    this.#timer?.cancel()
    this.#timer = undefined
    if (at === Number.POSITIVE_INFINITY) return
    this.#tickAt = at
    const waitMs = Math.max(0, at - this.#loop.now())
    this.#timer = this.#loop.schedule(() => {
      this.#timer = undefined
      this.happened({ type: 'tick' })
    }, waitMs)
  }
}
