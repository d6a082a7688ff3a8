import { createHash } from 'node:crypto'
import {
  anyKind,
  type ErrorRecord,
  type ErrorStep,
  type ErrorSum,
  ErrorTallies,
  type ErrorTally,
  keyOfError,
  maxErrors,
  maxKinds,
  otherKinds,
  stepsOf,
  sumOf,
} from '../records/error-tallies.js'
import { dayOf, msOfId } from './record-ids.js'

/** The errors of days and buckets are forgotten when there are this many. They are then counted anew. */
const maxLanes = 100
/** A hash has 52 bits: each is a whole number of JavaScript. */
const hashLength = 13

interface Lane {
  readonly bucket: string
  readonly rows: readonly ErrorRecord[]
}

/** A row of the tables. */
export interface CountedError extends Omit<ErrorTally, 'records'>, ErrorSum {
  /** Stands for the names of the error in its steps. */
  readonly number: number
  readonly steps: readonly ErrorStep[]
}

/** What this process has counted of a bucket and day. */
interface Known {
  /** Numbers of the errors by their names. */
  readonly errors: Map<string, number>
  readonly kinds: Set<string>
}

/** The errors that this process counts: a limited number of each bucket and day. Further ones are counted together. */
export class CountedErrors {
  readonly #tallies = new ErrorTallies()
  readonly #known = new Map<string, Known>()

  tally({ bucket, rows }: Lane): CountedError[] {
    const known = this.#knownOf(`${dayOf(msOfId(rows[0]!.id))} ${bucket}`)
    const counted: ErrorTally[] = []
    const others: ErrorTally[] = []
    for (const tally of this.#tallies.of(rows)) {
      if (hasRoom(known, tally)) counted.push(tally)
      else if (tally.kind !== anyKind) others.push(tally)
    }
    if (others.length > 0) counted.push(together(others))
    return counted.map(({ records, ...names }) => ({
      ...names,
      ...sumOf(records),
      number: numberOf(known, names),
      steps: names.kind === anyKind ? [] : stepsOf(records),
    }))
  }

  #knownOf(lane: string): Known {
    let known = this.#known.get(lane)
    if (known === undefined) {
      if (this.#known.size >= maxLanes) this.#known.clear()
      known = { errors: new Map(), kinds: new Set() }
      this.#known.set(lane, known)
    }
    return known
  }
}

function hasRoom({ errors, kinds }: Known, tally: ErrorTally): boolean {
  if (errors.has(keyOfError(tally))) return true
  if (errors.size >= maxErrors) return false
  if (tally.kind === anyKind || kinds.has(tally.kind)) return true
  if (kinds.size >= maxKinds) return false
  kinds.add(tally.kind)
  return true
}

function numberOf({ errors }: Known, names: Omit<ErrorTally, 'records'>): number {
  const key = keyOfError(names)
  let number = errors.get(key)
  if (number === undefined) {
    number = Number.parseInt(createHash('sha256').update(key).digest('hex').slice(0, hashLength), 16)
    errors.set(key, number)
  }
  return number
}

function together(tallies: readonly ErrorTally[]): ErrorTally {
  const records = tallies.flatMap((tally) => tally.records)
  return { kind: otherKinds.id, app: '', env: '', version: '', texts: otherKinds, records }
}
