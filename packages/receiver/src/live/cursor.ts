import type { Position } from '../storage/record-storage.js'

/** A position as the `id` of an event. */
export function cursorOf({ store, logs, values }: Position): string {
  return `${store}.${logs}.${values}`
}

/** The position that a reader sends back; undefined if it is not one of ours. */
export function positionOf(cursor: unknown): Position | undefined {
  const [, store, logs, values] = /^([\da-f]{32})\.(\d{1,16})\.(\d{1,16})$/.exec(String(cursor)) ?? []
  return store === undefined ? undefined : { store, logs: Number(logs), values: Number(values) }
}
