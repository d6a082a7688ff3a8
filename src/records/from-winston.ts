import type { LogFields, MappedLog } from './encode.js'
import { errorFields, errorText, isErrorLike } from './error-text.js'
import { type Severity, severityOfName } from './level.js'
import { type ContextStyle, cutToBytes, jsonOf, messageOf } from './message.js'
import { inUnit, timeOf } from './time.js'

export interface WinstonMapping {
  readonly context: ContextStyle
  readonly maxMessageBytes: number
  readonly timestampUnit: 'ms' | 's'
}

/** What winston hands to a transport; the clean level is under the LEVEL symbol, for colour formats change `level`. */
export type WinstonInfo = Readonly<Record<string | symbol, unknown>>

const LEVEL = Symbol.for('level')
const SPLAT = Symbol.for('splat')

/**
 * A mapping from winston's `info` to the fields of a log record. `info` is shared between transports and never changed.
 * `levels` is the logger's own set, most severe first, from which the severity of custom names follows.
 */
export function winstonMapper({ context: style, maxMessageBytes, timestampUnit }: WinstonMapping) {
  return (info: WinstonInfo, levels: Readonly<Record<string, number>> | undefined, arrivedAt: number): MappedLog => {
    const { level: _shown, message: written, timestamp, stack, ...context } = info as Record<string, unknown>
    const level = levelOf(info)
    const errors: string[] = []

    let text = typeof written === 'string' ? written : isErrorLike(written) ? written.message : jsonOf(written)
    if (isErrorLike(written)) errors.push(errorText(written))
    else if (typeof stack === 'string') errors.push(errorText({ message: text, stack, cause: info.cause }))
    if (typeof stack === 'string') delete context.cause

    for (const key of ['err', 'error']) {
      const value = context[key]
      if (!isErrorLike(value)) continue
      errors.push(errorText(value))
      if (text === '') text = value.message
      const extra = errorFields(value)
      if (Object.keys(extra).length > 0) context[key] = extra
      else delete context[key]
    }
    const splat = info[SPLAT]
    for (const extra of Array.isArray(splat) && stack === undefined ? splat : []) {
      if (extra instanceof Error) errors.push(errorText(extra))
    }

    const eventId = Number.isSafeInteger(context.eventId) ? (context.eventId as number) : undefined
    if (eventId !== undefined) delete context.eventId
    const error = errors.length === 0 ? undefined : [...new Set(errors)].join('\n')
    const fields: LogFields = {
      timeStamp: inUnit(timeOf(timestamp) ?? arrivedAt, timestampUnit),
      level,
      message: cutToBytes(messageOf({ text, context, error }, style), maxMessageBytes),
      ...(eventId === undefined ? {} : { eventId }),
    }
    return { fields, severity: severityIn(levels, level) }
  }
}

/** The clean name of a line's level. */
export function levelOf(info: WinstonInfo): string {
  return String(info[LEVEL] ?? info.level ?? 'info').toLowerCase()
}

/** Names that no common logger uses are placed by their rank: the first half of the logger's own set counts as errors. */
export function severityIn(levels: Readonly<Record<string, number>> | undefined, level: string): Severity {
  const known = severityOfName(level)
  if (known !== undefined) return known
  const rank = levels?.[level]
  if (rank === undefined || levels === undefined) return 2
  const lowest = Math.max(...Object.values(levels))
  return lowest === 0 ? 4 : (Math.round(4 - (4 * rank) / lowest) as Severity)
}
