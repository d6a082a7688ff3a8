import { crc32 } from 'node:zlib'
import { type Severity, valueSeverity } from '../records/level.js'
import type { RecordKind, ValidationError } from '../records/wire.js'
import { isPathSegment } from '../records/wire.js'

/** Why the service refused a record, and when: milliseconds since 1970. */
export interface Refusal {
  readonly status: number
  readonly reason: string
  readonly validationErrors: readonly ValidationError[]
  readonly rejectedAt: number
}

/** What a line of a segment, or of a file of dead letters, says. */
export interface SpoolLine {
  /** Number of the record in its segment, from 0: what acknowledgements refer to. */
  readonly number: number
  readonly idempotencyKey: string
  /** When it was accepted, in milliseconds since 1970. */
  readonly time: number
  readonly kind: RecordKind
  readonly bucket: string
  readonly severity: Severity
  readonly refusal: Refusal | undefined
  /** The record's JSON, byte for byte as it was accepted. */
  readonly body: string
}

/** What every line begins with. JSON of records cannot contain it: there its quotes would be escaped. */
export const lineMarker = '{"crc":"'
const crcDigits = 8
const afterCrc = '",'
const restAt = lineMarker.length + crcDigits + afterCrc.length
const recordMember = ',"record":'

/** The part of a line that all records of one bucket, kind and severity share. */
export function lineMiddle({ kind, bucket, severity }: Pick<SpoolLine, 'kind' | 'bucket' | 'severity'>): string {
  return `,"kind":"${kind}","bucket":${asciiJson(bucket)},"severity":${severity}`
}

/**
 * A line, without its end: an object of JSON that a person can read, with the checksum (CRC-32, which finds every flipped bit) of all
 * that follows it, and the record last.
 */
export function spoolLine(
  { number, idempotencyKey, time, body }: Pick<SpoolLine, 'number' | 'idempotencyKey' | 'time' | 'body'>,
  { middle, refusal }: { readonly middle: string; readonly refusal?: Refusal },
): string {
  const refused = refusal === undefined ? '' : `,"refusal":${JSON.stringify(refusal).toWellFormed()}`
  return summed(`"n":${number},"key":"${idempotencyKey}","time":${time}${middle}${refused}${recordMember}${body}}`)
}

/** An object of JSON, given without its first brace, as a line with a checksum. */
export function summed(rest: string): string {
  return `${lineMarker}${crc32(rest).toString(16).padStart(crcDigits, '0')}${afterCrc}${rest}`
}

/** What follows the checksum of a line that is whole; undefined for any other bytes. */
export function restOf(line: Buffer): string | undefined {
  if (line.length <= restAt || line.toString('latin1', 0, lineMarker.length) !== lineMarker) return undefined
  const digits = line.toString('latin1', lineMarker.length, restAt - afterCrc.length)
  if (!/^[0-9a-f]{8}$/.test(digits) || line.toString('latin1', restAt - afterCrc.length, restAt) !== afterCrc)
    return undefined
  const rest = line.subarray(restAt)
  return crc32(rest) === Number.parseInt(digits, 16) ? rest.toString('utf8') : undefined
}

/**
 * Read a line, given without its end; undefined when it is not whole, and when it says what no line of a spool does: the sum shows that
 * it was not damaged, not who wrote it.
 */
export function readSpoolLine(line: Buffer): SpoolLine | undefined {
  const rest = restOf(line)
  // The record is the last member, and none of its own members has this name.
  const recordAt = rest?.lastIndexOf(recordMember) ?? -1
  if (rest === undefined || recordAt === -1) return undefined
  const head = objectOf(`{${rest.slice(0, recordAt)}}`)
  const body = rest.slice(recordAt + recordMember.length, -1)
  if (head === undefined || !rest.endsWith('}') || objectOf(body) === undefined) return undefined
  const { n: number, key: idempotencyKey, time, kind, bucket, severity, refusal } = head
  if (!isCount(number) || !isCount(time) || !isIdempotencyKey(idempotencyKey)) return undefined
  if (!isRecordKind(kind) || !isSeverity(severity) || (kind === 'values') !== (severity === valueSeverity))
    return undefined
  if (!isPathSegment(bucket) || !(refusal === undefined || isRefusal(refusal))) return undefined
  return { number, idempotencyKey, time, kind, bucket, severity, refusal, body }
}

/** A key goes into the header of a request: behind a space or an end of line another request could begin. */
function isIdempotencyKey(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,200}$/.test(value)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isSeverity(value: unknown): value is Severity {
  return isCount(value) && value <= valueSeverity
}

function isRecordKind(value: unknown): value is RecordKind {
  return value === 'logs' || value === 'values'
}

function isRefusal(value: unknown): value is Refusal {
  if (typeof value !== 'object' || value === null) return false
  const { status, reason, validationErrors, rejectedAt } = value as Partial<Record<keyof Refusal, unknown>>
  return isCount(status) && typeof reason === 'string' && Array.isArray(validationErrors) && isCount(rejectedAt)
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** JSON in ASCII, so that a line is as much longer in bytes than its record as it is in characters. */
function asciiJson(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
