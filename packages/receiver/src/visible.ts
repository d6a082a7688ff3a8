/** Control characters, and characters that reorder or hide text, among them halves of pairs and the marks that can carry a hidden text. */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]|[\u{e0100}-\u{e01ef}]/gu
/** Joiners and variation marks inside of emoji and scripts; without them a text would look broken. */
const harmless = /\u200c|\u200d|\u00ad/

/** A text in which control characters are signs that can be seen. Tabs and line ends stay. */
export function visible(text: string): string {
  return text.replace(hidden, (sign) => {
    if (sign === '\n' || sign === '\t' || harmless.test(sign)) return sign
    const code = sign.codePointAt(0)!
    if (code === 0x1b) return '⟦ESC⟧'
    return `⟦U+${code.toString(16).toUpperCase().padStart(4, '0')}⟧`
  })
}
