const escapeCode = 0x1b
/** A code that colours a text in a terminal. */
const colour = new RegExp(`${String.fromCharCode(escapeCode)}\\[[\\d;]*m`, 'g')

/** True for a text that a format for terminals has coloured. */
export function isColoured(text: unknown): boolean {
  return typeof text === 'string' && text.charCodeAt(0) === escapeCode
}

export function withoutColours(text: string): string {
  return text.replaceAll(colour, '')
}

/** A message without colours, and without the spaces and tabs that `cli` and `align` put before it. */
export function undecorated(text: string): string {
  return withoutColours(text).replace(/^[ \t]+/, '')
}

/** The same for an error, which has its name before the message. */
export function undecoratedError(text: string): string {
  return withoutColours(text).replace(/^([\w$.]+:)[ \t]+/, '$1 ')
}
