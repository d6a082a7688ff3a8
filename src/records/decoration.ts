/**
 * What formats for a terminal do to a line before any transport sees it: winston's `colorize` colours level and message, `cli` and
 * `align` put spaces and tabs before the message.
 */
export function isDecorated({ level, message }: ShownLine): boolean {
  return isColoured(level) || isColoured(message)
}

/** Whether the message itself bears traces of it. */
export function isMessageDecorated({ level, message }: ShownLine): boolean {
  return isColoured(message) || (isColoured(level) && typeof message === 'string' && /^[ \t]/.test(message))
}

/** The text as it was, without colours, and without what stands before it. */
export function undecorated(text: string): string {
  return text.replaceAll(colour, '').replace(/^[ \t]+/, '')
}

/** The same for an error: its name comes before the message. */
export function undecoratedError(text: string): string {
  return text.replaceAll(colour, '').replace(/^([\w$.]+:)[ \t]+/, '$1 ')
}

interface ShownLine {
  readonly level?: unknown
  readonly message?: unknown
}

function isColoured(text: unknown): boolean {
  return typeof text === 'string' && text.charCodeAt(0) === escapeCode
}

const escapeCode = 0x1b
const colour = new RegExp(`${String.fromCharCode(escapeCode)}\\[[\\d;]*m`, 'g')
