// Events by name, and a function whose success counts. Run with SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET set.
import { defineEvents, track, tracked } from 'sluice'

const events = defineEvents({ signedUp: 1001, upgraded: 1002 })

const upgrade = tracked(events.upgraded, async (/** @type {string} */ plan) => {
  if (plan === 'none') throw new Error('there is no such plan')
  return `now on ${plan}`
})

track(events.signedUp)
await upgrade('pro')
await upgrade('none').catch(() => {})
