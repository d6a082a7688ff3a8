import { catalogueFaults, catalogueFaultText, type EventCatalogue, type EventNumbers } from './event-catalogue.js'

/**
 * Names the numbers of events, once for the application. The result has the number of each event by its name. It is frozen, and a wrong
 * name does not compile.
 *
 *     const events = defineEvents({ signedUp: 1001, upgraded: { number: 1002, description: 'a plan was bought' } })
 *     track(events.signedUp)
 *
 * @param events number by name, or an object with `number` and `description` by name, as in a JSON file: whole numbers from 0 to 2^53 - 1,
 *   each of them once
 * @throws {TypeError} with the name of event and field, for the first mistake: a number that is invalid or that of another event, another
 *   field, a description that is no text
 */
export function defineEvents<const Events extends EventCatalogue>(events: Events): EventNumbers<Events> {
  const [fault] = catalogueFaults(events)
  if (fault !== undefined) throw new TypeError(catalogueFaultText(fault))
  const numbers = Object.entries(events).map(([name, event]) => [
    name,
    typeof event === 'number' ? event : event.number,
  ])
  return Object.freeze(Object.fromEntries(numbers)) as EventNumbers<Events>
}
