/** How much is kept of a value that a service has sent. */
export interface ValueBounds {
  /** Levels of arrays and objects, one inside the other. */
  readonly depth: number
  /** Elements and fields of all levels together. */
  readonly entries: number
  /** Characters of all texts and names together. */
  readonly characters: number
}

/** Stands where something has been left out. */
const omission = '…'

/** At most so many characters of a text, cut between characters. */
export function boundedText(text: string, most: number): string {
  if (text.length <= most) return text
  const last = text.charCodeAt(most - 1)
  const splits = last >= 0xd800 && last < 0xdc00
  return `${text.slice(0, splits ? most - 1 : most)}${omission}`
}

/**
 * A copy of a value from JSON that is safe for whoever takes it further: shallow enough for every walk over it, small enough for a
 * message, and without a field `__proto__`. What exceeds the bounds is left out, and replaced with `…` where a value must stand.
 */
export function boundedValue(value: unknown, bounds: ValueBounds): unknown {
  const left = { entries: bounds.entries, characters: bounds.characters }
  const text = (whole: string) => {
    const kept = boundedText(whole, Math.max(0, left.characters))
    left.characters -= kept.length
    return kept
  }
  const keep = (each: unknown, depth: number): unknown => {
    if (typeof each === 'string') return text(each)
    if (typeof each !== 'object' || each === null) return each
    if (depth === 0) return omission
    return Array.isArray(each) ? keepList(each, depth) : keepFields(each, depth)
  }
  const keepList = (list: readonly unknown[], depth: number): unknown[] => {
    const kept: unknown[] = []
    for (const each of list) {
      if (left.entries-- <= 0) break
      kept.push(keep(each, depth - 1))
    }
    return kept
  }
  const keepFields = (fields: object, depth: number): Record<string, unknown> => {
    const kept: Record<string, unknown> = {}
    for (const [name, each] of Object.entries(fields)) {
      if (left.entries-- <= 0) break
      if (name !== '__proto__') kept[text(name)] = keep(each, depth - 1)
    }
    return kept
  }
  return keep(value, bounds.depth)
}
