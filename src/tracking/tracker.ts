import { types } from 'node:util'
import { quoted } from '../errors/text-of.js'
import type { UserLease } from '../process/lease.js'
import { eventKeyRule, isEventKey, maxEventKeyChars } from '../records/event-key.js'
import { isTime } from '../records/time.js'
import { ownField } from '../runtime/own-fields.js'
import { isEventId } from './event-catalogue.js'

/** Options of one occurrence of an event. */
export interface TrackOptions {
  /** Time of the occurrence: a `Date`, or milliseconds since 1970, before the year 5138 (independent of `timestampUnit`). @default now */
  readonly timeStamp?: Date | number | undefined
  /**
   * A key of the application for this occurrence, such as the id of an order: 1 to 200 visible ASCII characters. Occurrences of one event
   * with the same key have the same `idempotency-key`, in every process and after a restart. A service that heeds it stores them once.
   * @default none: every call is an occurrence of its own
   */
  readonly key?: string | undefined
}

/** Records occurrences of events: one value record for each call. */
export class Tracker {
  readonly #lease: UserLease
  readonly #told = new Set<string>()

  constructor(lease: UserLease) {
    this.#lease = lease
  }

  /**
   * Record one occurrence of the event with this number, a whole number from 0 to 2^53 - 1. Never throws and never blocks. A bad
   * number, time or key is counted in `invalid` and reported to `onError`, once per kind.
   */
  track(eventId: number, options?: TrackOptions): void {
    if (!isEventId(eventId)) {
      this.#invalid('eventId', eventId)
      return
    }
    if (options !== undefined) this.#trackWith(eventId, options)
    else if (this.#lease.released) this.#lease.engine.refuse('values')
    else this.#lease.engine.value(eventId, Date.now())
  }

  #trackWith(eventId: number, options: TrackOptions): void {
    const { milliseconds, key } = read(options)
    if (milliseconds === undefined || !isTime(milliseconds)) this.#invalid('timeStamp', milliseconds)
    else if (key !== undefined && !isEventKey(key)) this.#invalid('key', key)
    else if (this.#lease.released) this.#lease.engine.refuse('values')
    else if (key === undefined) this.#lease.engine.value(eventId, milliseconds)
    else this.#lease.engine.keyedValue({ eventId, milliseconds, key })
  }

  #invalid(what: keyof typeof expectations, value: unknown): void {
    const { engine } = this.#lease
    engine.invalid()
    const kind = `${what} ${typeof value === 'string' && what === 'key' ? faultOf(value) : kindOf(value)}`
    if (this.#told.has(kind)) return
    this.#told.add(kind)
    const got = value === undefined ? '' : `, got ${quoted(value)}`
    engine.misused('SLUICE_INVALID_EVENT', `track: expected ${what} to be ${expectations[what]}${got}`, kind)
  }
}

const expectations = {
  eventId: 'a whole number from 0',
  timeStamp: 'a Date or milliseconds since 1970',
  key: eventKeyRule,
} as const

/** The options of a call. The time is undefined if it is neither a Date nor a number, or if the options cannot be read. */
function read(options: TrackOptions): { readonly milliseconds?: number; readonly key?: unknown } {
  try {
    const own = options as Readonly<Record<string, unknown>>
    const { timeStamp = Date.now(), key } = { timeStamp: ownField(own, 'timeStamp'), key: ownField(own, 'key') }
    if (types.isDate(timeStamp)) return { milliseconds: Date.prototype.getTime.call(timeStamp), key }
    return typeof timeStamp === 'number' ? { milliseconds: timeStamp, key } : {}
  } catch {
    return {}
  }
}

/** The kind of a mistake. Each kind is reported once. */
function kindOf(value: unknown): string {
  if (typeof value !== 'number') return typeof value
  if (!Number.isFinite(value)) return String(value)
  if (value < 0) return 'negative'
  return Number.isInteger(value) ? 'too large' : 'fraction'
}

/** The kind of a mistake in a key that is a text. */
function faultOf(key: string): string {
  if (key === '') return 'empty'
  return key.length > maxEventKeyChars ? 'too long' : 'not visible ASCII'
}

/** Any function. With `never` or `unknown` instead of `any`, parameters without a type of their own would be unusable. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Tracked = (...args: any[]) => unknown

/** The function `track`, of the process or of an instance. */
type Track = (eventId: number) => void

/**
 * Wraps a function so that it records an event each time it returns, or its promise resolves. Nothing is recorded when it throws or
 * rejects. `this`, arguments, result and properties of the function are passed on unchanged.
 *
 * @throws {TypeError} if `run` is not a function
 */
export function trackedBy<Run extends Tracked>(
  track: Track,
  { eventId, run }: { readonly eventId: number; readonly run: Run },
): Run {
  if (typeof run !== 'function') throw new TypeError(`tracked: expected a function, got ${typeof run}`)
  const record = () => track(eventId)
  function recorded(this: unknown, ...args: unknown[]): unknown {
    const result = run.apply(this, args)
    whenThere(result, record)
    return result
  }
  return Object.defineProperties(recorded, Object.getOwnPropertyDescriptors(run)) as unknown as Run
}

type Then = (this: unknown, done?: unknown, ...others: unknown[]) => unknown

/** Calls `record` once when the result of a function is there. Runs nothing that the caller has not asked for. */
function whenThere(result: unknown, record: () => void): void {
  const then = thenOf(result)
  if (then === undefined) {
    record()
    return
  }
  try {
    // The caller gets the promise itself. This branch handles its rejection, so that it causes no unhandled one.
    if (isPlainPromise(result, then)) Promise.prototype.then.call(result, record, () => {})
    // The `then` of a query runs it, each time. So the caller's own call is watched.
    else watch(result as object, then).push(record)
  } catch {
    // It is frozen. Its event is recorded, for all that is known.
    record()
  }
}

/** True where `await` does not call `then`, or where `then` is that of JavaScript: it starts nothing. */
function isPlainPromise(result: unknown, then: Then): boolean {
  return result instanceof Promise && (then === Promise.prototype.then || result.constructor === Promise)
}

/** By thenable: the events to record when the caller's own call of `then` resolves. An application may return the same one again and again. */
const watching = new WeakMap<object, (() => void)[]>()

function watch(result: object, then: Then): (() => void)[] {
  const known = watching.get(result)
  if (known !== undefined) return known
  const waiting: (() => void)[] = []
  const watched: Then = function (done, ...others) {
    const resolved = (value: unknown) => {
      for (const record of waiting.splice(0)) record()
      return typeof done === 'function' ? done(value) : value
    }
    return then.call(this, resolved, ...others)
  }
  Object.defineProperty(result, 'then', { value: watched, writable: true, configurable: true })
  watching.set(result, waiting)
  return waiting
}

/** The method `then` of a promise or a query. */
function thenOf(value: unknown): Then | undefined {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined
  try {
    const { then } = value as { then?: unknown }
    return typeof then === 'function' ? (then as Then) : undefined
  } catch {
    return undefined
  }
}
