import { quoted } from '../errors/text-of.js'

/**
 * Names the numbers of events, once for the application. The result is frozen, and a wrong name does not compile.
 *
 *     const events = defineEvents({ signedUp: 1001, upgraded: 1002 })
 *     track(events.signedUp)
 *
 * @param events number by name: whole numbers from 0 to 2^53 - 1, each of them once
 * @throws {TypeError} with the name of the event, for an invalid number and for the number of another event
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

/** True for a value that can be the number of an event. */
export function isEventId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
