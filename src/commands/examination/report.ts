import { styleText } from 'node:util'
import type { DescribedOption } from '../../options/described.js'
import { redacted, shortestSecret } from '../../options/secret.js'
import type { Finding } from './finding.js'

const marks = { good: ['green', '✓'], bad: ['red', '✗'], skipped: ['dim', '–'] } as const
const checkWidth = 14

/** The same without what is not to be seen, wherever it turns up: a service may repeat in its answer what it was sent. */
export function hide<Value>(value: Value, secrets: readonly string[]): Value
export function hide(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') {
    const sought = secrets.filter(({ length }) => length >= shortestSecret)
    return sought.reduce((shown, secret) => shown.replaceAll(secret, redacted), value)
  }
  if (Array.isArray(value)) return value.map((each) => hide(each, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hide(each, secrets)]))
}

/** A finding in one line, with what to do about it on the next. Colours where stdout shows them. */
export function findingLines({ check, state, text, advice }: Finding): string {
  const [colour, mark] = marks[state]
  const line = `${styleText(colour, mark)} ${check.padEnd(checkWidth)} ${state === 'skipped' ? styleText('dim', text) : text}\n`
  return advice === undefined ? line : `${line}${' '.repeat(checkWidth + 3)}${styleText('yellow', `→ ${advice}`)}\n`
}

/** The options in columns: those that somebody has set first. */
export function optionLines(options: readonly DescribedOption[]): string {
  const isDefault = ({ source }: DescribedOption) => source === 'default'
  const ordered = [...options.filter((each) => !isDefault(each)), ...options.filter(isDefault)]
  const nameWidth = Math.max(0, ...ordered.map(({ name }) => name.length))
  const valueWidth = Math.min(40, Math.max(0, ...ordered.map(({ value }) => value.length)))
  const lines = ordered.map((each) => {
    const line = `  ${each.name.padEnd(nameWidth)}  ${each.value.padEnd(valueWidth)}  ${each.source}`
    return `${isDefault(each) ? styleText('dim', line) : line}\n`
  })
  return lines.join('')
}
