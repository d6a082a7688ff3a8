import { causeOf, errorFields, isErrorLike, membersOf, stackOf } from './error-like.js'
import { jsonOf } from './json-text.js'

/** Errors that one text shows, causes and members of aggregates included. */
const maxErrors = 20

/**
 * The text of an error for people: its stack with name and message at the head, then the members of an aggregate, then its causes,
 * each of these with its own fields. Never throws.
 *
 *     TypeError: boom
 *         at …
 *     caused by: Error: connect ECONNREFUSED
 *         at …
 *         {"code":"ECONNREFUSED"}
 *
 * The fields of the outermost error are left to the context of its line.
 */
export function errorText(error: unknown): string {
  const lines: string[] = []
  const seen = new Set<unknown>()

  function add(current: unknown, label: string): void {
    if (seen.size >= maxErrors) return
    if (!isErrorLike(current)) {
      lines.push(label + (typeof current === 'string' ? current : jsonOf(current, { maxChars: 1000 })))
      return
    }
    if (seen.has(current)) {
      lines.push(`${label}[circular]`)
      return
    }
    seen.add(current)
    lines.push(label + stackOf(current))
    const fields = label === '' ? {} : errorFields(current)
    if (Object.keys(fields).length > 0) lines.push(`    ${jsonOf(fields, { maxChars: 10_000 })}`)
    const members = membersOf(current)
    for (const [index, member] of members.entries()) add(member, `error ${index + 1} of ${members.length}: `)
    const cause = causeOf(current)
    if (cause !== undefined) add(cause, 'caused by: ')
  }

  if (isErrorLike(error)) add(error, '')
  return lines.join('\n')
}
