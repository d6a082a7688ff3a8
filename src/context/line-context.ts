import { activeSpan } from './active-span.js'
import { type WrittenField, writtenContext } from './context.js'

let lastContext: readonly WrittenField[] | undefined
let lastSpan: readonly WrittenField[] | undefined
let lastBoth: readonly WrittenField[] = []

/** The fields for a line that is logged now: the context, then the ids of the span. Undefined if there are none. */
export function fieldsForLine(): readonly WrittenField[] | undefined {
  const context = writtenContext()
  const span = activeSpan()
  if (context === undefined || span === undefined) return context ?? span
  if (context !== lastContext || span !== lastSpan) {
    const names = new Set(context.map(({ name }) => name))
    lastBoth = [...context, ...span.filter(({ name }) => !names.has(name))]
    lastContext = context
    lastSpan = span
  }
  return lastBoth
}

interface Addition {
  readonly fields: readonly WrittenField[]
  /** An object whose fields are in the line, to spare the search for them. */
  readonly own: unknown
}

/** The text of a line with those fields that it does not have. A text that is no JSON object stays as it is. */
export function lineWith(line: string, { fields, own }: Addition): string {
  if (!looksLikeObject(line)) return line
  let added = ''
  let parsed: object | undefined
  for (const { name, mark, json } of fields) {
    if (line.includes(mark)) {
      if (typeof own === 'object' && own !== null && Object.hasOwn(own, name)) continue
      // The mark may stand in an inner object.
      parsed ??= parsedObject(line)
      if (parsed === undefined) return line
      if (Object.hasOwn(parsed, name)) continue
    }
    added += `,${mark}${json}`
  }
  if (added === '') return line
  return line === '{}' ? `{${added.slice(1)}}` : `${line.slice(0, -1)}${added}}`
}

/** The fields as values, without those of the names for which `isOwn` is true. */
export function valuesOf(fields: readonly WrittenField[], isOwn: (name: string) => boolean): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const { name, json } of fields) if (!isOwn(name)) values[name] = JSON.parse(json)
  return values
}

function looksLikeObject(line: string): boolean {
  return line === '{}' || (beginsAsObject.test(line) && line.endsWith('}'))
}

const beginsAsObject = /^\{\s*"/

function parsedObject(line: string): object | undefined {
  try {
    return JSON.parse(line) as object
  } catch {
    return undefined
  }
}
