import { styleText } from 'node:util'
import { counted } from '../../errors/counted.js'
import { oneLine } from '../../errors/text-of.js'
import type { DescribedOption } from '../../options/options.js'

/** The result of one check. */
export interface Finding {
  /** The name of the check, in one or two words. */
  readonly check: string
  /** `skipped`: there was nothing to check, or the check could not succeed. */
  readonly state: 'good' | 'bad' | 'skipped'
  readonly text: string
  /** How to solve the problem. */
  readonly advice?: string | undefined
}

export function good(check: string, text: string): Finding {
  return { check, state: 'good', text }
}

export function bad(check: string, { text, advice }: { readonly text: string; readonly advice: string }): Finding {
  return { check, state: 'bad', text, advice }
}

export function skipped(check: string, text: string): Finding {
  return { check, state: 'skipped', text }
}

const marks = { good: ['green', '✓'], bad: ['red', '✗'], skipped: ['dim', '–'] } as const
const checkWidth = 14

/** A finding in one line, with the advice on the next one. In colour where stdout shows colours. */
export function findingLines({ check, state, text: found, advice }: Finding): string {
  const text = oneLine(found)
  const [colour, mark] = marks[state]
  const line = `${styleText(colour, mark)} ${check.padEnd(checkWidth)} ${state === 'skipped' ? styleText('dim', text) : text}\n`
  return advice === undefined
    ? line
    : `${line}${' '.repeat(checkWidth + 3)}${styleText('yellow', `→ ${oneLine(advice)}`)}\n`
}

/** The options for a script: JSON values, and null for an option that is not set. */
export function optionFacts(options: readonly DescribedOption[]): readonly object[] {
  return options.map(({ name, value, source }) => ({ name, value: jsonValueOf(value), source }))
}

function jsonValueOf(shown: string): unknown {
  if (shown === 'none') return null
  return shown === 'function' ? shown : JSON.parse(shown)
}

/** The options that are set, in columns, and how many have their defaults. `verbose`: these, too. */
export function optionLines(options: readonly DescribedOption[], { verbose }: { readonly verbose: boolean }): string {
  const isDefault = ({ source }: DescribedOption) => source === 'default'
  const defaults = options.filter(isDefault)
  const shown = [...options.filter((each) => !isDefault(each)), ...(verbose ? defaults : [])]
  const ordered = shown.map((each) => ({ ...each, value: oneLine(each.value) }))
  const nameWidth = Math.max(0, ...ordered.map(({ name }) => name.length))
  const valueWidth = Math.min(40, Math.max(0, ...ordered.map(({ value }) => value.length)))
  const lines = ordered.map((each) => {
    const line = `  ${each.name.padEnd(nameWidth)}  ${each.value.padEnd(valueWidth)}  ${each.source}`
    return `${isDefault(each) ? styleText('dim', line) : line}\n`
  })
  if (verbose) return lines.join('')
  const others = shown.length === 0 ? 'no option is set' : `${counted(defaults.length, 'option')} not set`
  return `${lines.join('')}  ${styleText('dim', `${others}: --verbose shows the defaults`)}\n`
}
