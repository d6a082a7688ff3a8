import type { RecordKind } from '../record-storage.js'
import { maxNameLength, maxNames, namedFields } from '../records/named-fields.js'
import type { CountedRecord, NameTally, Tallies } from '../records/tallies.js'
import { dayOf, msOfId } from './record-ids.js'

/** Stands in place of a value for all of them, in the counts of all time. JSON is never empty. */
export const anyValue = ''
/** Stands in place of a name where a field has had more names than are counted: nobody can rely on the counts of that field any more. */
export const uncounted = ''
/** Fields are forgotten when there are this many. Their names are then counted anew. */
const maxFields = 1000

interface Lane {
  readonly bucket: string
  readonly kind: RecordKind
  readonly rows: readonly (CountedRecord & { readonly id: number })[]
}

/** The names that this process counts: at most this number of each field, lane and day. */
export class CountedNames {
  readonly #tallies: Tallies
  readonly #names = new Map<string, Set<string>>()

  constructor(tallies: Tallies) {
    this.#tallies = tallies
  }

  /** The names of the records, and `uncounted` for each field with further ones. */
  tally(lane: Lane): NameTally[] {
    const excess = new Set<string>()
    const known = new Map(namedFields.map((field) => [field as string, this.#namesOf(lane, field)]))
    const counted = this.#tallies.names(lane.rows, ({ field, name }) => {
      if (name.length > maxNameLength) return false
      const names = known.get(field)!
      if (names.has(name)) return true
      if (names.size >= maxNames) {
        excess.add(field)
        return false
      }
      names.add(name)
      return true
    })
    return [...counted, ...[...excess].map((field) => ({ field, name: uncounted, records: 0 }))]
  }

  #namesOf({ bucket, kind, rows }: Lane, field: string): Set<string> {
    const key = `${kind} ${field} ${dayOf(msOfId(rows[0]!.id))} ${bucket}`
    let names = this.#names.get(key)
    if (names === undefined) {
      if (this.#names.size >= maxFields) this.#names.clear()
      names = new Set()
      this.#names.set(key, names)
    }
    return names
  }
}
