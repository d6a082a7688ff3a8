import { causeOf, errorFields, isErrorLike, membersOf, stackOf } from './error-like.js'
import { jsonOf } from './json-text.js'

/** Most causes and members in one text. */
const maxParts = 20

/**
 * An error as a text for people: its stack with name and message at the head, then the members of an aggregate, then its causes. Members
 * and causes have their own fields below them. The text ends soon after `maxChars`. Never throws.
 *
 *     TypeError: boom
 *         at …
 *     caused by: Error: connect ECONNREFUSED
 *         at …
 *         {"code":"ECONNREFUSED"}
 *
 * @param withFields show the own fields of the outermost error, too. By default they are in the context of the line
 */
export function errorText(
  error: unknown,
  { maxChars = 1_048_576, withFields = false }: { maxChars?: number; withFields?: boolean } = {},
): string {
  const lines: string[] = []
  const seen = new Set<unknown>()
  let room = maxChars
  let parts = 0

  function push(line: string): void {
    lines.push(line)
    room -= line.length
  }

  function add(current: unknown, label: string): void {
    parts++
    if (!isErrorLike(current)) {
      push(label + (typeof current === 'string' ? current : jsonOf(current, { maxChars: 1000 })))
      return
    }
    if (seen.has(current)) {
      push(`${label}[circular]`)
      return
    }
    seen.add(current)
    push(label + stackOf(current))
    const fields = label === '' && !withFields ? {} : errorFields(current)
    if (Object.keys(fields).length > 0) push(`    ${jsonOf(fields, { maxChars: 10_000 })}`)
    addAll(membersOf(current))
    const cause = causeOf(current)
    if (cause === undefined) return
    if (parts < maxParts && room > 0) add(cause, 'caused by: ')
    else push('… more causes')
  }

  function addAll(members: readonly unknown[]): void {
    for (let index = 0; index < members.length; index++) {
      if (parts >= maxParts || room <= 0) {
        push(`… ${members.length - index} more errors`)
        return
      }
      add(members[index], `error ${index + 1} of ${members.length}: `)
    }
  }

  if (isErrorLike(error)) add(error, '')
  return lines.join('\n')
}
