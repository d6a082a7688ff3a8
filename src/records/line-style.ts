/** What is known of the logger that writes a line. It is equal in many lines, so it goes to the worker once. */
export interface LineStyle {
  /** Whose names of level, message and time the line has. @default 'pino' */
  readonly logger?: 'pino' | 'winston' | undefined
  /** Name of the level in lower case, where winston tells it beside the line. @default the line says it */
  readonly level?: string | undefined
  /** pino's `levels.labels`: name by number. @default those of pino */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** pino's key of the message. @default 'msg' */
  readonly messageKey?: string | undefined
  /** pino's key of an error. @default 'err' */
  readonly errorKey?: string | undefined
}

/** An application that makes loggers with ever new levels would fill the memory. */
const maxStyles = 256
const styles = new Map<string, LineStyle>()

/** One object for all equal styles. Beyond 256 styles a line is read by the default names of its logger. */
export function sharedStyle(style: LineStyle): LineStyle {
  const text = JSON.stringify(style)
  const known = styles.get(text)
  if (known !== undefined) return known
  if (styles.size >= maxStyles) return style.logger === 'winston' ? winstonStyle : pinoStyle
  styles.set(text, style)
  return style
}

const pinoStyle: LineStyle = { logger: 'pino' }
const winstonStyle: LineStyle = { logger: 'winston' }
