import { contextFields } from '../../src/storage/records/context-fields.js'
import { type MessageParts, splitMessage } from '../../src/storage/records/message-parts.js'

/** A value of the context that queries can look up, with the path of its field. */
export interface ContextValue {
  readonly path: string
  readonly json: string
}

type Messaged = { readonly message: string }

/** The parts of a record's message. They are remembered as long as the record. */
export const partsOf: (record: Messaged) => MessageParts = remembered(splitMessage)

/** The values of a record's context that queries can look up. */
export const contextValues: (record: Messaged) => readonly ContextValue[] = remembered((message) =>
  contextFields(message).filter((field): field is ContextValue => field.json !== undefined),
)

function remembered<Found extends object>(find: (message: string) => Found): (record: Messaged) => Found {
  const known = new WeakMap<object, Found>()
  return (record) => {
    let found = known.get(record)
    if (found === undefined) {
      found = find(record.message)
      known.set(record, found)
    }
    return found
  }
}

/** A value of JSON as one text. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The same for a value that is written as JSON. */
export function textOfJson(json: string): string {
  return json.startsWith('"') ? (JSON.parse(json) as string) : json
}
