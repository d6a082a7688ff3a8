import type { Outcome, Outgoing, Sender } from '../../src/delivery/sender.js'
import type { OutgoingBatch, Sender as CallbackSender } from '../../src/next/outgoing-batch.js'
import { type Clock, queueMicrotask, setImmediate } from '../../src/runtime/clock.js'
import type { Loop } from '../../src/runtime/loop.js'

/** The loop of Node, with the time of a test. */
export function loopOver(clock: Clock): Loop {
  return {
    now: () => clock.now(),
    schedule: (task, delayMs, keepAlive) => clock.schedule(task, delayMs, keepAlive),
    soon: queueMicrotask,
    immediate: (task) => setImmediate(task),
  }
}

/** A sender with promises, behind the port with callbacks. */
export function callbackSender(sender: Sender): CallbackSender {
  return {
    carriage: (kind) => sender.carriage(kind),
    send(batch: OutgoingBatch) {
      const records: Outgoing[] = []
      for (let index = 0; index < batch.length; index++) records.push(batch.textOf(index))
      const settle = (index: number, outcome: Outcome, count = 1) => batch.settle(index, outcome, count)
      const { kind, bucket, probe, fresh } = batch
      const given = { kind, bucket, probe, fresh, records, settle, woken: batch.woken, parted: batch.parted }
      void sender.send(given as unknown as Parameters<Sender['send']>[0]).then(() => batch.done())
    },
    close: () => sender.close(),
  }
}
