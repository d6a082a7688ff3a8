import { quoted } from '../errors/text-of.js'
import { ownFields } from '../runtime/own-fields.js'

/** An event of a catalogue. */
export interface EventEntry {
  /** A whole number from 0 to 2^53 - 1, which no other event of the catalogue has. */
  readonly number: number
  /** A text for people: what has happened. Sluice does not send it. @default none */
  readonly description?: string | undefined
}

/** Events by name, each as its number or with a description. */
export type EventCatalogue = Readonly<Record<string, number | EventEntry>>

/** The numbers of a catalogue by name. */
export type EventNumbers<Events extends EventCatalogue> = {
  readonly [Name in keyof Events]: Events[Name] extends { readonly number: infer Id } ? Id : Events[Name]
}

/** A fault of a catalogue. */
export interface CatalogueFault {
  /** Name of the event. Undefined for a fault of the whole catalogue. */
  readonly event?: string | undefined
  /** Name of the field. Undefined for a fault of the whole event. */
  readonly field?: string | undefined
  /** The fault, without the names of event and field. */
  readonly text: string
}

/** All faults of a catalogue, by event. */
export function catalogueFaults(catalogue: unknown): CatalogueFault[] {
  if (!isObject(catalogue)) {
    const got = Array.isArray(catalogue) ? 'an array' : quoted(catalogue)
    return [{ text: `expected an object with the events by name, got ${got}` }]
  }
  const names = new Map<number, string>()
  return Object.entries(catalogue).flatMap(([event, entry]) => {
    const faults: CatalogueFault[] = event === '' ? [{ event, text: 'expected a name' }] : []
    const fields = fieldsOf(entry)
    const number = fields === undefined ? entry : fields.number
    const place = fields === undefined ? { event } : { event, field: 'number' }
    const other = names.get(number as number)
    if (!isEventId(number)) faults.push({ ...place, text: `expected a whole number from 0, got ${quoted(number)}` })
    else if (other === undefined) names.set(number, event)
    else faults.push({ ...place, text: `the number ${number} is that of ${other} already` })
    return fields === undefined ? faults : [...faults, ...fieldFaults(event, fields)]
  })
}

/** A fault as one sentence that names event and field. */
export function catalogueFaultText({ event, field, text }: CatalogueFault): string {
  const place = event === undefined ? 'events' : `event ${event === '' ? '""' : event}`
  return `${place}${field === undefined ? '' : `, ${field}`}: ${text}`
}

/** True for a value that can be the number of an event. */
export function isEventId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function fieldFaults(event: string, { number: _, description, ...others }: Readonly<Record<string, unknown>>) {
  const faults: CatalogueFault[] = []
  if (description !== undefined && typeof description !== 'string') {
    faults.push({ event, field: 'description', text: `expected a text, got ${quoted(description)}` })
  }
  for (const field of Object.keys(others)) {
    faults.push({ event, field, text: 'expected no fields but number and description' })
  }
  return faults
}

/** The fields of an entry that is an object and can be read. */
function fieldsOf(entry: unknown): Readonly<Record<string, unknown>> | undefined {
  try {
    return isObject(entry) ? ownFields(entry) : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
