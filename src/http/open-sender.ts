import type { Sender } from '../delivery/sender.js'
import { AutoSender } from './auto-sender.js'
import { laneSlots } from './connection-slots.js'
import { PipelinedSender } from './pipelined-sender.js'
import type { SenderPlan } from './sender-plan.js'
import { UndiciSender } from './undici-sender.js'

export interface OpenSenderPlan extends SenderPlan {
  readonly pipelining: 'auto' | 'off'
  /** Most records in one batch. */
  readonly maxBatch: number
  /** A proxy on the way: then everything goes by the sure sender, through it. */
  readonly proxyUrl: string | undefined
  /** The fast sender is not used any more, and why. */
  readonly left: (reason: string) => void
}

/** The sender for a destination: the sure one, or the one that chooses. */
export function openSender({ pipelining, maxBatch, left, ...plan }: OpenSenderPlan): Sender {
  if (pipelining === 'off' || plan.proxyUrl !== undefined) return new UndiciSender(plan)
  const slots = laneSlots(plan.maxConnections)
  return new AutoSender({
    sure: (saw) => new UndiciSender({ ...plan, slots, saw }),
    fast: (watch) => new PipelinedSender({ ...plan, slots, maxDepth: maxBatch, watch }),
    clock: plan.clock,
    left,
  })
}
