import { visible } from '../../src/visible.js'

export { visible }

/** A text on one line, at most `maxChars` long. */
export function oneLine(text: string, maxChars: number): string {
  const start = text.length > maxChars ? `${text.slice(0, maxChars).toWellFormed()}…` : text
  return visible(start).replaceAll('\n', ' ↵ ').replaceAll('\t', ' ')
}
