import type { TObject } from '@sinclair/typebox'
import { quoted } from '../../../../src/errors/text-of.js'
import { nearestName } from '../../../../src/options/nearest-name.js'
import { visible } from '../visible.js'
import { ToolError } from './tool.js'

/** What a property of the schemas of the tools says. */
interface Property {
  readonly type: 'string' | 'integer'
  readonly description?: string
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
}

/**
 * The arguments of a call, checked. Models write a number as a text and a text as a number, and leave an argument out by an empty text: what
 * is meant is clear.
 *
 * @throws {ToolError} that names the argument, what was expected, and its value
 */
export function givenArguments(input: TObject, written: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const properties = input.properties as object as Readonly<Record<string, Property>>
  const given: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(written)) {
    const property = Object.hasOwn(properties, name) ? properties[name]! : unknown(name, Object.keys(properties))
    if (value === null || value === '') continue
    const meant = meantBy(value, property)
    if (!isRight(meant, property)) throw wrong(name, expected(property), value)
    given[name] = meant
  }
  for (const name of input.required ?? []) {
    if (given[name] === undefined) throw wrong(name, expected(properties[name]!), undefined)
  }
  return given
}

function unknown(name: string, known: readonly string[]): never {
  const nearest = nearestName(name, known)
  const hint = nearest === undefined ? `it has ${known.join(', ')}` : `did you mean ${nearest}?`
  throw new ToolError(`${visible(quoted(name))}: the tool has no such argument; ${hint}`)
}

function meantBy(value: unknown, { type }: Property): unknown {
  if (type === 'string' && typeof value === 'number') return String(value)
  return type === 'integer' && typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
}

function isRight(value: unknown, { type, enum: names, pattern, minimum, maximum, maxLength }: Property): boolean {
  if (type === 'integer') {
    return Number.isSafeInteger(value) && (value as number) >= minimum! && (value as number) <= maximum!
  }
  if (typeof value !== 'string') return false
  if (names !== undefined) return names.includes(value)
  return (pattern === undefined || new RegExp(pattern).test(value)) && value.length <= (maxLength ?? maxTextLength)
}

function expected({ type, enum: names, minimum, maximum, maxLength, pattern, description }: Property): string {
  if (type === 'integer') return `a whole number from ${minimum} to ${maximum}`
  if (names !== undefined) return `one of ${names.join(', ')}`
  return pattern === undefined ? `a text of at most ${maxLength ?? maxTextLength} characters` : String(description)
}

function wrong(name: string, expected: string, value: unknown): ToolError {
  return new ToolError(`${name}: expected ${expected}, got ${value === undefined ? 'none' : visible(quoted(value))}`)
}

const maxTextLength = 1000
