import { expect, it } from 'vitest'
import type { Sender } from '../../src/delivery/sender.js'
import { spooledSender } from '../../src/spool/spooled-sender.js'
import { sendBatch } from '../support/batch.js'

it('a spooled sender writes everything to disk before it sends', async () => {
  const order: string[] = []
  const inner: Sender = {
    carriage: () => ({ sender: 'undici', maxDepth: 1 }),
    send: (batch) => {
      order.push('sent')
      batch.done()
    },
    close: async () => void order.push('closed'),
  }
  const sender = spooledSender(inner, () => order.push('written'))
  await sendBatch(sender, [])
  await sender.close()
  expect(order).toEqual(['written', 'sent', 'closed'])
})
