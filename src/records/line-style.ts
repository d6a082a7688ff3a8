import type { Severity } from './level.js'
import type { IsOwn, LineLevel } from './line-head.js'
import type { MessageStyle } from './message.js'

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

/** What is known of a line beside its text. */
export interface LineAbout {
  /** Milliseconds since 1970: the time of a line that has none. */
  readonly arrivedAt: number
  /** @default that of its level */
  readonly severity?: Severity | undefined
  /** True for a line below the option `level`: it is kept in case an error comes. @default false */
  readonly below?: boolean | ((level: LineLevel) => boolean) | undefined
  /**
   * Errors of the line, which JSON writes as `{}`: an object of JSON with the error of each field by its key, and with the line itself under
   * `''` where that is an error. @default none
   */
  readonly errors?: string | undefined
  /** True where something was hidden in the line before. @default false */
  readonly redacted?: boolean | undefined
}

/** The options for the records of lines. */
export interface LineMapping extends LineStyle, MessageStyle {
  readonly timestampUnit: 'ms' | 's'
  /** True for a process and a host in a line of pino that are left out. @default this process and this machine */
  readonly isOwn?: IsOwn | undefined
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
