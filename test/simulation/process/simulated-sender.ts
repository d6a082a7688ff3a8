import type { Outcome } from '../../../src/delivery/sender.js'
import { TextBatch } from '../../../src/delivery/text-batch.js'
import type { StartedSender } from '../../../src/engine/engine-delivery.js'
import type { SenderPlan } from '../../../src/http/sender-plan.js'
import { UndiciSender } from '../../../src/http/undici-sender.js'
import type { SimulatedThread } from '../simulated-thread.js'

/**
 * The sender of the last requests, in a thread of its own, while the application's thread may not return to its event loop. The real one
 * runs a program from text in a worker; here the sure sender takes its place.
 */
export function simulatedSender(thread: SimulatedThread, plan: SenderPlan): StartedSender {
  const sender = new UndiciSender(plan)
  const answers: { readonly id: number; readonly outcome: Outcome }[] = []
  return {
    begin({ id, kind, bucket, record }) {
      thread.post(() => {
        const settle = (_: number, outcome: Outcome) => void answers.push({ id, outcome })
        sender.send(new TextBatch({ kind, bucket, records: [record], settle }))
      })
    },
    answers: () => answers.splice(0),
    close: () => thread.kill(),
  }
}
