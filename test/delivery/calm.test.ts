import { describe, expect, it } from 'vitest'
import { setUp } from '../support/delivery.js'

describe('a delivery in a process that is about to end', () => {
  it('sends when no record has come for the time of the calm', async () => {
    const { clock, sender, delivery, value } = setUp()
    delivery.calm(50)
    value('a')
    await clock.advance(40)
    value('b')
    await clock.advance(49)
    expect(sender.sent).toEqual([])
    await clock.advance(10)
    expect(sender.sent).toEqual(['a', 'b'])
  })

  it('lets no record wait for more than a second', async () => {
    const { clock, sender, delivery, value } = setUp()
    delivery.calm(50)
    for (let moment = 0; moment < 975; moment += 25) {
      value(`at ${moment}`)
      await clock.advance(25)
    }
    expect(sender.sent).toEqual([])
    value('last')
    await clock.advance(25)
    expect(sender.sent).toContain('at 0')
  })

  it('starts a new calm after each send', async () => {
    const { clock, sender, delivery, value } = setUp()
    delivery.calm(50)
    value('a')
    await clock.advance(2000)
    value('b')
    await clock.advance(49)
    expect(sender.sent).toEqual(['a'])
    await clock.advance(1)
    expect(sender.sent).toEqual(['a', 'b'])
  })
})
