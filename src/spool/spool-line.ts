import { crc32 } from 'node:zlib'
import { type Severity, valueSeverity } from '../records/level.js'
import type { RecordKind, ValidationError } from '../records/wire.js'
import { isPathSegment } from '../records/wire.js'

/** Why and when the service rejected a record. */
export interface Refusal {
  readonly status: number
  readonly reason: string
  readonly validationErrors: readonly ValidationError[]
  /** Milliseconds since 1970. */
  readonly rejectedAt: number
}

/** The content of a line of a file of records or of dead letters. */
export interface SpoolLine {
  /** The number of the record in its file, or in its segment where that has several files. Acknowledgements name it. */
  readonly number: number
  readonly idempotencyKey: string
  /** The time at which the record was accepted, in milliseconds since 1970. */
  readonly time: number
  readonly kind: RecordKind
  readonly bucket: string
  readonly severity: Severity
  readonly refusal: Refusal | undefined
  /** The record's JSON, byte for byte as it was accepted. */
  readonly body: string
}

/** The beginning of every line. The JSON of a record cannot contain it, because its quotes would be escaped there. */
export const lineMarker = '{"crc":"'
const crcDigits = 8
const afterCrc = '",'
/** Where the text begins that the checksum of a line covers. */
export const restAt = lineMarker.length + crcDigits + afterCrc.length
/** Stands before the record, which ends a line. */
export const recordMember = ',"record":'

/** The part of a line that all records of one bucket, kind and severity share. */
export function lineMiddle({ kind, bucket, severity }: Pick<SpoolLine, 'kind' | 'bucket' | 'severity'>): string {
  return `,"kind":"${kind}","bucket":${asciiJson(bucket)},"severity":${severity}`
}

/**
 * A line without its line end: a JSON object that a person can read. It begins with the checksum (CRC-32, which finds every flipped bit) of
 * all bytes after it, and ends with the record.
 */
export function spoolLine(
  { number, idempotencyKey, time, body }: Pick<SpoolLine, 'number' | 'idempotencyKey' | 'time' | 'body'>,
  { middle, refusal }: { readonly middle: string; readonly refusal?: Refusal },
): string {
  const refused = refusal === undefined ? '' : `,"refusal":${JSON.stringify(refusal).toWellFormed()}`
  return withChecksum(
    `"n":${number},"key":${JSON.stringify(idempotencyKey)},"time":${time}${middle}${refused}${recordMember}${body}}`,
  )
}

/** A line with a checksum, made of a JSON object without its first brace. */
export function withChecksum(rest: string): string {
  return `${beginningFor(rest)}${rest}`
}

/** The beginning of a line with such a rest. */
function beginningFor(rest: string | Buffer): string {
  return `${lineMarker}${crc32(rest).toString(16).padStart(crcDigits, '0')}${afterCrc}`
}

/** True for a line, without its line end, that begins with the checksum of its rest. */
export function isWhole(line: Buffer): boolean {
  return line.length > restAt && line.toString('latin1', 0, restAt) === beginningFor(line.subarray(restAt))
}

/** The text after the checksum of a whole line; undefined for any other bytes. */
export function withoutChecksum(line: Buffer): string | undefined {
  return isWhole(line) ? line.toString('utf8', restAt) : undefined
}

/**
 * Read a line without its line end. Undefined when it is not whole, and when no spool writes such content: a checksum shows that a line is
 * not damaged, not that Sluice wrote it.
 */
export function readSpoolLine(line: Buffer): SpoolLine | undefined {
  const rest = withoutChecksum(line)
  return rest === undefined ? undefined : contentOf(rest)
}

/**
 * The same for a file of dead letters, whose records people correct in an editor: where the checksum does not fit, the record is another one
 * and gets a key of its own. The service may remember the old key as refused.
 */
export function readDeadLetter(line: Buffer): SpoolLine | undefined {
  const written = readSpoolLine(line)
  if (written !== undefined || line.toString('latin1', 0, lineMarker.length) !== lineMarker) return written
  const rest = line.toString('utf8', restAt)
  const edited = contentOf(rest)
  if (edited?.refusal === undefined) return undefined
  const idempotencyKey = `${edited.idempotencyKey.slice(0, 240)}-${crc32(rest).toString(16)}`
  return { ...edited, idempotencyKey }
}

/** The content of the text after a checksum. Undefined when no spool writes it. */
function contentOf(rest: string): SpoolLine | undefined {
  // The record is the last member, and has no member of this name itself.
  const recordAt = rest.lastIndexOf(recordMember)
  if (recordAt === -1) return undefined
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

/** The key becomes a header of a request. A space or line end in it could begin another request. Keys of events are the longest. */
function isIdempotencyKey(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,255}$/.test(value)
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

/** JSON in ASCII: so a line is longer than its record by the same number of bytes as of characters. */
function asciiJson(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
