import type { PinoStyle } from '../records/from-pino.js'

/** Loggers that may be known by their base: an application that makes one for each request would fill the memory with them. */
const maxStyles = 64
const styles = new Map<string, PinoStyle>()

/** Loggers that are configured alike have one style: the worker is told of it once. */
export function sharedStyle(style: PinoStyle): PinoStyle {
  const text = JSON.stringify(style)
  const known = styles.get(text)
  if (known !== undefined) return known
  if (styles.size >= maxStyles && style.base !== undefined) return sharedStyle({ ...style, base: undefined })
  styles.set(text, style)
  return style
}
