import { readFileSync } from 'node:fs'

/** Names of events by their numbers. */
export type EventNames = Readonly<Record<string, string>>

/**
 * Reads the names of a catalogue of events, in the form that `defineEvents` takes.
 *
 * @throws if the file cannot be read, is not JSON, or has a fault
 */
export async function readEventNames(file: string): Promise<EventNames> {
  // Few receivers have a catalogue. The others start without loading the library.
  const { defineEvents } = await import('sluice')
  const numbers: Record<string, number> = defineEvents(JSON.parse(readFileSync(file, 'utf8')))
  return Object.fromEntries(Object.entries(numbers).map(([name, number]) => [number, name]))
}
