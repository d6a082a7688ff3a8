import { parseArgs } from 'node:util'
import { nearestName } from '../options/nearest-name.js'

/** What the options of a command take. */
export type OptionSpecs = Readonly<Record<string, { readonly type: 'string' | 'boolean'; readonly short?: string }>>

/** A command line taken apart, or the words that say what is wrong with it. */
export type ReadArguments =
  | {
      readonly ok: true
      readonly texts: Readonly<Record<string, string>>
      readonly flags: ReadonlySet<string>
      readonly operands: readonly string[]
    }
  | { readonly ok: false; readonly message: string }

/** Take a command line apart; an option that is unknown, incomplete or given twice is named. */
export function readArguments(written: readonly string[], specs: OptionSpecs): ReadArguments {
  const { tokens } = parseArgs({
    args: [...written],
    options: { ...specs },
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const texts: Record<string, string> = {}
  const flags = new Set<string>()
  const operands: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') operands.push(token.value)
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const spec = Object.hasOwn(specs, name) ? specs[name] : undefined
    if (spec === undefined) return { ok: false, message: unknown('option', rawName, Object.keys(specs), '--') }
    if (Object.hasOwn(texts, name)) return { ok: false, message: `--${name}: expected once, got it twice` }
    if (spec.type === 'boolean') {
      if (value !== undefined) return { ok: false, message: `--${name}: expected no value, got "${value}"` }
      flags.add(name)
    } else if (value === undefined || value === '' || (!inlineValue && value.startsWith('-'))) {
      return { ok: false, message: `--${name}: expected a value, got ${value === undefined ? 'none' : `"${value}"`}` }
    } else texts[name] = value
  }
  return { ok: true, texts, flags, operands }
}

/** Says that a name is not known, and which one may have been meant. */
export function unknown(what: string, name: string, known: readonly string[], prefix = ''): string {
  const nearest = nearestName(name.replace(/^-+/, ''), known)
  return `unknown ${what} ${name}${nearest === undefined ? '' : `; did you mean ${prefix}${nearest}?`}`
}
