import { type MessageParts, splitMessage } from '../../src/storage/records/message-parts.js'

const remembered = new WeakMap<object, MessageParts>()

/** The parts of a record's message. They are remembered as long as the record. */
export function partsOf(record: { readonly message: string }): MessageParts {
  let parts = remembered.get(record)
  if (parts === undefined) {
    parts = splitMessage(record.message)
    remembered.set(record, parts)
  }
  return parts
}

/** The value at a path such as `cart.items.0`, as the text that a filter compares; undefined if there is none. */
export function contextValue(record: { readonly message: string }, path: string): string | undefined {
  let value: unknown = partsOf(record).context
  if (value === undefined) return undefined
  if (Object.hasOwn(value as object, path)) return valueText((value as Record<string, unknown>)[path])
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return valueText(value)
}

/** A value of JSON as one text. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
