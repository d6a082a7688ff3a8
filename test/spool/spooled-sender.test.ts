import { expect, it } from 'vitest'
import { batchRecords } from '../../src/delivery/record-batch.js'
import type { Sender } from '../../src/delivery/sender.js'
import { spooledSender } from '../../src/spool/spooled-sender.js'

it('a spooled sender writes everything to disk before it sends', async () => {
  const order: string[] = []
  const inner: Sender = {
    carriage: () => ({ sender: 'undici', maxDepth: 1 }),
    send: async () => void order.push('sent'),
    close: async () => void order.push('closed'),
  }
  const sender = spooledSender(inner, () => order.push('written'))
  await sender.send({ kind: 'logs', bucket: 'b', ...batchRecords([]), probe: false, settle() {} })
  await sender.close()
  expect(order).toEqual(['written', 'sent', 'closed'])
})
