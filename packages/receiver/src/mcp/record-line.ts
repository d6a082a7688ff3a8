import { timeText } from '../commands/printed-record.js'
import { named, quoted } from './quoted-data.js'
import type { Body } from './tool.js'

/** A log record of the API, as far as a line shows it. */
export interface LogRecord {
  readonly id: number
  readonly receivedAt: string
  readonly timeStamp: number
  readonly level: string
  readonly message: string
  readonly appName: string
  readonly machineName?: string
  readonly env?: string
  readonly appVersion?: string
}

/** A page of records of the API. */
export interface LogPage {
  readonly list: readonly LogRecord[]
  readonly next?: number
  readonly hint?: string
  readonly incomplete?: true
}

export function pageOf(body: Body): LogPage {
  return body as object as LogPage
}

/** A record in one line. @param maxBytes of the message */
export function recordLine(record: LogRecord, maxBytes: number): string {
  const { id, timeStamp, level, appName, env, appVersion, message } = record
  const app = env === undefined ? named(appName) : `${named(appName)}/${named(env)}`
  const version = appVersion === undefined ? [] : [named(appVersion)]
  return [id, timeText(timeStamp), named(level), app, ...version, quoted(message, maxBytes)].join(' ')
}

/** What the receiver says about an answer, which may have words of records. */
export function hintLine(hint: string | undefined): string | undefined {
  return hint === undefined ? undefined : `hint: ${quoted(hint, maxHintBytes)}`
}

const maxHintBytes = 1200
