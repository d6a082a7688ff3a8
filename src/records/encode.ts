import type { Severity } from './level.js'
import type { LogRecord, ValueRecord } from './wire.js'

/** The fields that are equal in every record of a process. */
export type Identity = Pick<LogRecord, 'appName' | 'machineName' | 'env' | 'appVersion' | 'runtimeVersion' | 'runtime'>

/** The fields that differ from one log record to the next. */
export type LogFields = Omit<LogRecord, keyof Identity>

/** Facts about a line by which the options `repeat` and `keepForError` decide. They stay in the process. */
export interface LineFacts {
  /** Name of the logger. */
  readonly logger?: string
  readonly level: string
  /** The beginning of the message, without its fields. */
  readonly text: string
  /** Id of the request or trace. */
  readonly id?: string
}

/** A logger's line as the fields of a log record, with its severity. */
export interface MappedLog {
  readonly fields: LogFields
  readonly severity: Severity
  /** True where something was hidden in the line. @default false */
  readonly redacted?: boolean
  /** Present where the options `repeat` or `keepForError` need them. */
  readonly facts?: LineFacts | undefined
  /** True for a line that the option `sample` leaves out. Its fields mean nothing. @default false */
  readonly sampledOut?: boolean
  /** True for a line below the option `level`: it is kept in case an error comes. @default false */
  readonly below?: boolean
}

/** A {@link MappedLog} whose fields are written. */
export interface WrittenHead extends Omit<MappedLog, 'fields' | 'sampledOut'> {
  /** The record's JSON without the fields that are the same in all records. */
  readonly head: string
}

/** The fields that differ from one value record to the next. */
type ValueFields = Omit<ValueRecord, keyof Identity>

/**
 * Writes records as JSON. The part that all records of a process share is written once and appended: three to four times as fast as
 * `JSON.stringify` of a merged object.
 */
export class RecordEncoder {
  readonly #logTail: string
  readonly #valueTail: string

  constructor(identity: Identity) {
    this.#logTail = tailOf(identity)
    const { machineName: _, ...withoutMachine } = identity
    this.#valueTail = tailOf(withoutMachine)
  }

  /** The end of every log record, behind its head, as bytes. */
  get logTail(): Uint8Array {
    return Buffer.from(this.#logTail)
  }

  /** The end of every value record, behind the number of its event, as bytes. */
  get valueTail(): Uint8Array {
    return Buffer.from(this.#valueTail)
  }

  /** Completes a head that {@link logHead} has made. */
  completeLog(head: string): string {
    return head + this.#logTail
  }

  value({ timeStamp, eventId }: ValueFields): string {
    return `{"timeStamp":${timeStamp},"eventId":${eventId}${this.#valueTail}`
  }
}

/** The part of a log record's JSON that differs from one record to the next. */
export function logHead({ timeStamp, level, message, eventId }: LogFields): string {
  const event = eventId === undefined ? '' : `,"eventId":${eventId}`
  return `{"timeStamp":${timeStamp},"level":${JSON.stringify(level)},"message":${JSON.stringify(message)}${event}`
}

function tailOf(identity: Partial<Identity>): string {
  return `,${JSON.stringify(identity).slice(1)}`
}
