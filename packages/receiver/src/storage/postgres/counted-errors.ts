import { createHash } from 'node:crypto'
import {
  anyKind,
  type ErrorNames,
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

/** The errors of writers, days and buckets are forgotten when there are this many. They are then counted anew. */
const maxLanes = 400
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

/** What one writer has counted of a bucket and day. */
interface Known {
  /** Numbers of the errors by their names. */
  readonly errors: Map<string, number>
  /** By application. */
  readonly kinds: Map<string, Set<string>>
}

/** Errors that have too much in the tables: those of an application, or of all. */
export interface Crowd {
  readonly app: string | undefined
}

/** Errors that have gone, and those as which their records are counted now. */
export interface LeftErrors {
  readonly gone: readonly ErrorNames[]
  readonly others: readonly ErrorNames[]
}

/** The errors that this process counts. Each writer has rows of its own of each bucket and day, and a limited number of them. */
export class CountedErrors {
  readonly #tallies = new ErrorTallies()
  readonly #known = new Map<string, Known>()

  tally(lane: Lane, writer: number): CountedError[] {
    const known = this.#knownOf(lane, writer)
    return this.#tallies.of(lane.rows).map(({ records, ...names }) => ({
      ...names,
      ...sumOf(records),
      number: noted(known, names),
      steps: names.kind === anyKind ? [] : stepsOf(records),
    }))
  }

  /** The crowds among the errors of the lane, whose least recent must go. */
  crowds(lane: Lane, writer: number): Crowd[] {
    const { errors, kinds } = this.#knownOf(lane, writer)
    const apps = [...kinds].flatMap(([app, { size }]) => (size > maxKinds ? [{ app }] : []))
    return errors.size > maxErrors ? [...apps, { app: undefined }] : apps
  }

  /** Notes that errors have gone, and those as which they are counted now. */
  left(lane: Lane, { writer, gone, others }: LeftErrors & { readonly writer: number }): void {
    const known = this.#knownOf(lane, writer)
    for (const error of gone) {
      known.errors.delete(keyOfError(error))
      known.kinds.get(error.app)?.delete(error.kind)
    }
    for (const error of others) noted(known, error)
  }

  #knownOf({ bucket, rows }: Lane, writer: number): Known {
    const lane = `${writer} ${dayOf(msOfId(rows[0]!.id))} ${bucket}`
    let known = this.#known.get(lane)
    if (known === undefined) {
      if (this.#known.size >= maxLanes) this.#known.clear()
      known = { errors: new Map(), kinds: new Map() }
      this.#known.set(lane, known)
    }
    return known
  }
}

function noted({ errors, kinds }: Known, names: ErrorNames): number {
  const key = keyOfError(names)
  let number = errors.get(key)
  if (number === undefined) {
    number = numberOf(names)
    errors.set(key, number)
    const { kind, app } = names
    if (kind !== anyKind && kind !== otherKinds.id) kinds.set(app, (kinds.get(app) ?? new Set()).add(kind))
  }
  return number
}

/** The number of an error in its steps. */
export function numberOf(names: ErrorNames): number {
  return Number.parseInt(createHash('sha256').update(keyOfError(names)).digest('hex').slice(0, hashLength), 16)
}
