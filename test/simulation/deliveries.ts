import { type EngineDelivery, type EngineDeliveryPlan, SpooledDelivery } from '../../src/engine/engine-delivery.js'
import type { Contents } from './contents.js'
import { contentsOf } from './next-contents.js'
import { openNext } from './next-delivery.js'

/** A delivery that the engines of a simulated machine can have. */
export interface SimulatedDelivery {
  /** Open one for an engine. Without contents, nothing is checked of them. */
  readonly open: (plan: EngineDeliveryPlan) => { readonly delivery: EngineDelivery; readonly contents?: Contents }
  /** Records that found no room in memory, and come back from disk, keep their place among the others. */
  readonly keepsOrderOnDisk: boolean
}

const present: SimulatedDelivery = {
  open: (plan) => ({ delivery: new SpooledDelivery(plan) }),
  // They come back after younger ones: it sends what is in memory first.
  keepsOrderOnDisk: false,
}

const next: SimulatedDelivery = {
  open(plan) {
    const delivery = openNext(plan)
    return { delivery, contents: contentsOf(delivery) }
  },
  keepsOrderOnDisk: true,
}

/** The delivery as it is, and the one that is to take its place. */
export const deliveries = { now: present, next } as const satisfies Record<string, SimulatedDelivery>
export type DeliveryName = keyof typeof deliveries
