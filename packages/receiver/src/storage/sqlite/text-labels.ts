import type { FieldName, OwnField } from '../../query/query.js'
import type { RecordFields } from '../record-storage.js'
import { contextFields } from '../records/context-fields.js'

/** Longer values of a record's own fields are cut, in characters of their JSON. Rows must be checked again for them. */
const maxValueLength = 100
/** Stands behind the lane in a label. */
const letters = { level: 'v', eventId: 'i', appName: 'a', env: 'e', machineName: 'm', appVersion: 'r' } as const
const ownFields = Object.entries(letters) as [OwnField, string][]
/** Of the context: a field that is there, and a field with its value. No hexadecimal digit is `z`. */
const context = { field: 'k', value: 'c', separator: 'z' } as const

/**
 * The labels of a record in the text index: one for its lane, one for each of its own fields, and up to two for each field of its context.
 * `l3a2273686F7022` is `"shop"`, the name of the application in lane 3.
 */
export function labelsOf(lane: number, record: RecordFields): string {
  const labels = new Set([laneLabel(lane)])
  for (const [field, letter] of ownFields) {
    const value = record[field]
    if (value !== undefined) labels.add(`l${lane}${letter}${cutHex(JSON.stringify(value))}`)
  }
  if (record.message !== undefined) {
    for (const { path, json } of contextFields(record.message)) {
      labels.add(fieldLabel(lane, path))
      if (json !== undefined) labels.add(`${valueLabel(lane, path)}${hexOf(json)}`)
    }
  }
  return [...labels].join(' ')
}

export function laneLabel(lane: number): string {
  return `l${lane}`
}

/** The label of a value of a field; or its begin, for a begin of the JSON. */
export function labelOf(lane: number, { field, json }: { readonly field: FieldName; readonly json: string }): string {
  return isOwn(field) ? `l${lane}${letters[field]}${cutHex(json)}` : `${valueLabel(lane, field.slice(1))}${hexOf(json)}`
}

/** The label of all records that have the field of the context; undefined for an own field. */
export function labelOfField(lane: number, field: FieldName): string | undefined {
  return isOwn(field) ? undefined : fieldLabel(lane, field.slice(1))
}

/** True for JSON of a field that its label does not tell from all others. */
export function isCut(field: FieldName, json: string): boolean {
  return isOwn(field) && json.length > maxValueLength
}

function isOwn(field: FieldName): field is OwnField {
  return !field.startsWith('.')
}

function fieldLabel(lane: number, path: string): string {
  return `l${lane}${context.field}${hexOf(JSON.stringify(path))}`
}

function valueLabel(lane: number, path: string): string {
  return `l${lane}${context.value}${hexOf(JSON.stringify(path))}${context.separator}`
}

function cutHex(json: string): string {
  return hexOf(json.length <= maxValueLength ? json : [...json].slice(0, maxValueLength).join(''))
}

function hexOf(text: string): string {
  return Buffer.from(text).toString('hex')
}
