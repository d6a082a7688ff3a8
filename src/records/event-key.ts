/** Longest key that an application may give to an occurrence of an event, in characters. */
export const maxEventKeyChars = 200

/** The keys that an application may give to an occurrence of an event, as messages name them. */
export const eventKeyRule = `1 to ${maxEventKeyChars} visible ASCII characters`

/** True for a text that can be the key of an occurrence. It becomes part of a header. */
export function isEventKey(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxEventKeyChars && /^[\x21-\x7e]+$/.test(value)
}

/**
 * The idempotency key of a value record with a key of the application, such as `event-1001-evt_123`: the same in every process. No key that
 * Sluice makes itself is like it: Sluice's keys begin with a UUID.
 */
export function idempotencyKeyOf({ eventId, key }: { readonly eventId: number; readonly key: string }): string {
  return `event-${eventId}-${key}`
}
