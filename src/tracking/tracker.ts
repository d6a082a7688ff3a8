import { quoted } from '../errors/text-of.js'
import type { EngineLease } from '../process/engine-lease.js'
import { isEventId } from './events.js'

/** Options of one occurrence of an event. */
export interface TrackOptions {
  /** Time of the occurrence: a `Date`, or milliseconds since 1970 (independent of `timestampUnit`). @default now */
  readonly timeStamp?: Date | number | undefined
}

/** Records occurrences of events: one value record for each call. */
export class Tracker {
  readonly #lease: EngineLease
  readonly #told = new Set<string>()

  constructor(lease: EngineLease) {
    this.#lease = lease
  }

  /**
   * Record one occurrence of the event with this number, a whole number from 0 to 2^53 - 1. Never throws and never blocks. A bad number or
   * time is counted in `invalid` and reported to `onError`, once per kind.
   */
  track(eventId: number, options?: TrackOptions): void {
    if (!isEventId(eventId)) {
      this.#invalid('eventId', eventId)
      return
    }
    const milliseconds = options === undefined ? Date.now() : millisecondsOf(options)
    if (milliseconds === undefined || !Number.isFinite(milliseconds)) {
      this.#invalid('timeStamp', milliseconds)
      return
    }
    if (this.#lease.released) this.#lease.engine.refuse('values')
    else this.#lease.engine.value(eventId, milliseconds)
  }

  #invalid(what: string, value: unknown): void {
    const { engine } = this.#lease
    engine.invalid()
    const kind = `${what} ${kindOf(value)}`
    if (this.#told.has(kind)) return
    this.#told.add(kind)
    const expected = what === 'eventId' ? 'a whole number from 0' : 'a Date or milliseconds since 1970'
    const text = `track: expected ${what} to be ${expected}${value === undefined ? '' : `, got ${quoted(value)}`}`
    engine.misused('SLUICE_INVALID_EVENT', text, kind)
  }
}

/** The time of the options; undefined if it is neither a Date nor a number, or cannot be read. */
function millisecondsOf(options: TrackOptions): number | undefined {
  try {
    const { timeStamp = Date.now() } = options
    if (timeStamp instanceof Date) return Date.prototype.getTime.call(timeStamp)
    return typeof timeStamp === 'number' ? timeStamp : undefined
  } catch {
    return undefined
  }
}

/** The kind of a mistake. Each kind is reported once. */
function kindOf(value: unknown): string {
  if (typeof value !== 'number') return typeof value
  if (!Number.isFinite(value)) return String(value)
  if (value < 0) return 'negative'
  return Number.isInteger(value) ? 'too large' : 'fraction'
}

/** Any function. With `never` or `unknown` instead of `any`, parameters without a type of their own would be unusable. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Tracked = (...args: any[]) => unknown

/** The function `track`, of the process or of an instance. */
type Track = (eventId: number) => void

/**
 * Wraps a function so that it records an event each time it returns, or its promise resolves. Nothing is recorded when it throws or
 * rejects. `this`, arguments and result are passed on unchanged.
 *
 * @throws {TypeError} if `run` is not a function
 */
export function trackedBy<Run extends Tracked>(
  track: Track,
  { eventId, run }: { readonly eventId: number; readonly run: Run },
): Run {
  if (typeof run !== 'function') throw new TypeError(`tracked: expected a function, got ${typeof run}`)
  function recorded(this: unknown, ...args: unknown[]): unknown {
    const result = run.apply(this, args)
    if (isThenable(result)) {
      // The caller gets the promise itself. This branch handles its rejection, so that it causes no unhandled one.
      try {
        result.then(
          () => track(eventId),
          () => {},
        )
      } catch {
        // Its `then` throws, so it never resolves.
      }
    } else track(eventId)
    return result
  }
  Object.defineProperty(recorded, 'name', { value: run.name, configurable: true })
  Object.defineProperty(recorded, 'length', { value: run.length, configurable: true })
  return recorded as unknown as Run
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  try {
    return typeof (value as { then?: unknown }).then === 'function'
  } catch {
    return false
  }
}
