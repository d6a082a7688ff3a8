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
  const text = readFileSync(file, 'utf8')
  const numbers: Record<string, number> = defineEvents(JSON.parse(text))
  const repeated = repeatedName(text)
  if (repeated !== undefined) throw new Error(`event ${repeated}: the name is there twice`)
  return Object.fromEntries(Object.entries(numbers).map(([name, number]) => [number, name]))
}

/** The first name that an object in JSON has twice: `JSON.parse` keeps the last of them alone. */
function repeatedName(text: string): string | undefined {
  const names = new Set<string>()
  let depth = 0
  for (const [token, string] of text.matchAll(/("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
    else if (string !== undefined && depth === 1) {
      const name: string = JSON.parse(string)
      if (names.has(name)) return name
      names.add(name)
    }
  }
  return undefined
}
