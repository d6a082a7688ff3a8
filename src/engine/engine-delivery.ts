import { Delivery } from '../delivery/delivery.js'
import type { FlushTime } from '../delivery/drain.js'
import type { Ledger } from '../delivery/ledger.js'
import type { DeliveryPlan } from '../delivery/plan.js'
import type { BlockingSender } from '../delivery/sender.js'
import { spooledSender } from '../spool/spooled-sender.js'
import { EngineSpool, type EngineSpoolPlan } from './engine-spool.js'
import type { EndStep } from './ports.js'

/** A {@link BlockingSender} with a thread of its own. */
export interface StartedSender extends BlockingSender {
  /** End the thread and its requests. */
  close(): void
}

/** All that a delivery, and its spool, get from their engine. */
export interface EngineDeliveryPlan extends Omit<DeliveryPlan, 'store'> {
  /** Undefined where records are in memory alone. */
  readonly spool: EngineSpoolPlan | undefined
  /** Close the sender, and start a thread that makes requests while this one is blocked. Undefined when none starts within `withinMs`. */
  readonly startSender: (withinMs: number) => StartedSender | undefined
}

/** A delivery as its engine uses it. The engine does not see the spool. Lanes are named by their index. */
export interface EngineDelivery
  extends Pick<
    Delivery,
    | 'book'
    | 'accept'
    | 'room'
    | 'append'
    | 'calm'
    | 'refuse'
    | 'redacted'
    | 'suppress'
    | 'keptForError'
    | 'invalid'
    | 'stats'
    | 'hasRoom'
    | 'whenRoom'
    | 'flush'
    | 'park'
    | 'close'
    | 'leave'
  > {
  /** Open the spool. The engine can take what it reports. */
  start(): void
  /** Deliver while this thread is blocked. What is left stays queued: {@link EngineDelivery.leave} comes next. */
  endSync(time: Omit<FlushTime, 'holdsProcess'>): EndStep
}

const noThread = 'no thread can start to deliver them at the exit: allow threads, or await close() before it'

/** A {@link Delivery} with the spool of its engine, and the thread that sends at the end of the process. */
export class SpooledDelivery extends Delivery implements EngineDelivery {
  readonly #spool: EngineSpool | undefined
  readonly #enginePlan: EngineDeliveryPlan

  constructor(plan: EngineDeliveryPlan) {
    const spool = plan.spool && new EngineSpool(plan.spool)
    const sender = spool === undefined ? plan.sender : spooledSender(plan.sender, () => spool.commit())
    super({ ...plan, sender, ...(spool && { store: spool.store }) })
    this.#spool = spool
    this.#enginePlan = plan
  }

  start(): void {
    this.#spool?.start(this.buffer)
  }

  override async flush(time: FlushTime): Promise<Ledger> {
    const ledger = await super.flush(time)
    // A signal may end the process next.
    this.#spool?.acknowledge()
    return ledger
  }

  override park(): Ledger {
    if (this.#spool === undefined) return this.stats()
    super.park()
    this.#spool.commit()
    return this.stats()
  }

  endSync({ timeoutMs, brief }: Omit<FlushTime, 'holdsProcess'>): EndStep {
    const { clock, startSender } = this.#enginePlan
    const deadline = clock.now() + timeoutMs
    const { queued, inFlight } = this.stats()
    if (queued + inFlight === 0 || timeoutMs === 0) return () => true
    const sender = startSender(timeoutMs)
    if (sender === undefined) {
      this.failed(noThread)
      return () => true
    }
    this.#spool?.commit()
    const drain = this.drainSync(sender, { timeoutMs: deadline - clock.now(), brief })
    return (waitMs) => {
      if (!drain.step(waitMs)) return false
      sender.close()
      return true
    }
  }
}
