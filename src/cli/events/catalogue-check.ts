import { reasonOf } from '../../errors/text-of.js'
import { type CatalogueFault, catalogueFaults, catalogueFaultText } from '../../tracking/event-catalogue.js'
import { jsonMembers } from './json-members.js'

/** A fault in the file of a catalogue. */
export interface PlacedFault {
  /** Line in the file, from 1. Null where it is not known. */
  readonly line: number | null
  /** The fault as one sentence. */
  readonly message: string
}

/** The number of events in the JSON text of a catalogue, and its faults from the first line on. */
export function checkCatalogue(text: string): { readonly events: number; readonly faults: readonly PlacedFault[] } {
  let catalogue: unknown
  try {
    catalogue = JSON.parse(text)
  } catch (error) {
    return { events: 0, faults: [notJson(text, reasonOf(error))] }
  }
  const { lines, repeated } = readMembers(text)
  const placed = catalogueFaults(catalogue).map((fault) => ({
    line: lineOf(fault, lines),
    message: catalogueFaultText(fault),
  }))
  return { events: lines.size, faults: [...repeated, ...placed].sort((a, b) => a.line - b.line) }
}

/** The last event of a name in the text: `JSON.parse` keeps that one. */
interface EventLines {
  readonly line: number
  /** Lines of its fields, by name. */
  readonly fields: Map<string, number>
}

/** The lines of the events by name, and the names of events and fields that are there twice. */
function readMembers(text: string) {
  const lines = new Map<string, EventLines>()
  const repeated: { readonly line: number; readonly message: string }[] = []
  for (const { path, line } of jsonMembers(text)) {
    const [event = '', field, deeper] = path
    if (deeper !== undefined) continue
    const known = lines.get(event)
    const before = field === undefined ? known?.line : known?.fields.get(field)
    if (before !== undefined) {
      const fault = `the ${field === undefined ? 'name' : 'field'} is in line ${before} already`
      repeated.push({ line, message: catalogueFaultText({ event, field, text: fault }) })
    }
    if (field === undefined) lines.set(event, { line, fields: new Map() })
    else known?.fields.set(field, line)
  }
  return { lines, repeated }
}

function lineOf({ event = '', field = '' }: CatalogueFault, lines: ReadonlyMap<string, EventLines>): number {
  const known = lines.get(event)
  return known?.fields.get(field) ?? known?.line ?? 1
}

/** @param reason message of `JSON.parse`, which names the position in most cases */
function notJson(text: string, reason: string): PlacedFault {
  const position = /at position (\d+)/.exec(reason)?.[1]
  const line = position === undefined ? null : text.slice(0, Number(position)).split('\n').length
  return { line, message: `expected JSON: ${reason}` }
}
