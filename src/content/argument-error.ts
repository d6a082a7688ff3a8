import { textOf } from '../errors/text-of.js'

/** A mistake of the caller's: what an argument should be, and what it is. */
export function argumentError(name: string, { expected, got }: { expected: string; got: unknown }): TypeError {
  return new TypeError(`${name}: expected ${expected}, got ${shown(got)}`)
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  return (typeof value === 'object' && value !== null) || typeof value === 'function' ? typeof value : textOf(value)
}
