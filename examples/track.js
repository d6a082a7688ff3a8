// Value events: numbers of your own choice. Run with SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET set.
import { flush, track } from 'sluice'

const signedUp = 1001
const upgraded = 1002

track(signedUp)
track(upgraded, { timeStamp: new Date('2026-01-01T00:00:00Z') })

const { accepted, delivered } = await flush()
console.log(`${delivered} of ${accepted} value records delivered`)
