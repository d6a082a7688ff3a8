/** Control characters, and characters that reorder or hide text. Tabs and line ends stay. */
const hidden = /[\p{Cc}\p{Cf}\u2028\u2029]/gu
/** Joiners and variation marks inside of emoji and scripts; without them a text would look broken. */
const harmless = /\u200c|\u200d|\u00ad/

/** A text in which control characters are signs that can be seen. */
export function visible(text: string): string {
  return text.replace(hidden, (sign) => {
    if (sign === '\n' || sign === '\t' || harmless.test(sign)) return sign
    const code = sign.codePointAt(0)!
    if (code === 0x1b) return '⟦ESC⟧'
    return `⟦U+${code.toString(16).toUpperCase().padStart(4, '0')}⟧`
  })
}

/** A text on one line, at most `maxChars` long. */
export function oneLine(text: string, maxChars: number): string {
  const start = text.length > maxChars ? `${text.slice(0, maxChars).toWellFormed()}…` : text
  return visible(start).replaceAll('\n', ' ↵ ').replaceAll('\t', ' ')
}
