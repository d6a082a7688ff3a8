import { quoted } from '../errors/text-of.js'

/**
 * Name the numbers of events, once for the application. What comes back is frozen, and a wrong name does not compile.
 *
 *     const events = defineEvents({ signedUp: 1001, upgraded: 1002 })
 *     track(events.signedUp)
 *
 * @param events number by name; each a whole number from 0 to 2^53 - 1, none of them twice
 * @throws {TypeError} at once, naming the event, for a number that is none or that another event has
 */
export function defineEvents<const Events extends Readonly<Record<string, number>>>(events: Events): Readonly<Events> {
  const names = new Map<number, string>()
  for (const [name, number] of Object.entries(events)) {
    if (!isEventId(number)) {
      throw new TypeError(`event ${name}: expected a whole number from 0, got ${quoted(number)}`)
    }
    const other = names.get(number)
    if (other !== undefined) throw new TypeError(`event ${name}: the number ${number} is that of ${other} already`)
    names.set(number, name)
  }
  return Object.freeze({ ...events })
}

/** Whether this can be the number of an event. */
export function isEventId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
