/** A member of an object in a JSON text. */
export interface JsonMember {
  /** Names of the objects around it, then its own. */
  readonly path: readonly string[]
  /** Line of its name, from 1. */
  readonly line: number
}

/** The members of a JSON text that is valid, in their order, repeated ones included: `JSON.parse` keeps the last of these alone. */
export function jsonMembers(text: string): JsonMember[] {
  const members: JsonMember[] = []
  /** A name for each object that is open; undefined where it has none yet, and for an array. */
  const path: (string | undefined)[] = []
  let line = 1
  let string = ''
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:\n]/g)) {
    if (token === '\n') line++
    else if (token === '{' || token === '[') path.push(undefined)
    else if (token === '}' || token === ']') path.pop()
    else if (token === ':') {
      path[path.length - 1] = JSON.parse(string) as string
      if (isNamed(path)) members.push({ path: [...path], line })
    } else string = token
  }
  return members
}

function isNamed(path: readonly (string | undefined)[]): path is readonly string[] {
  return !path.includes(undefined)
}
