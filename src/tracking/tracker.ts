import type { EngineLease } from '../process/engine-lease.js'
import { isEventId, shown } from './events.js'

/** What may be said of an occurrence beside its event. */
export interface TrackOptions {
  /** When it happened: a `Date`, or milliseconds since 1970, whatever `timestampUnit` is. @default now */
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
   * Record one occurrence of the event with this number (a whole number from 0 to 2^53 - 1). Never throws, never blocks: a bad
   * number or time is counted in `invalid` and told through `onError`, once per kind.
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
    const text = `track: expected ${what} to be ${expected}${value === undefined ? '' : `, got ${shown(value)}`}`
    engine.misused('SLUICE_INVALID_EVENT', text, kind)
  }
}

/** Undefined for what is neither a Date nor a number, or cannot be read. */
function millisecondsOf(options: TrackOptions): number | undefined {
  try {
    const { timeStamp = Date.now() } = options
    if (timeStamp instanceof Date) return Date.prototype.getTime.call(timeStamp)
    return typeof timeStamp === 'number' ? timeStamp : undefined
  } catch {
    return undefined
  }
}

/** Each kind of mistake is told once. */
function kindOf(value: unknown): string {
  if (typeof value !== 'number') return typeof value
  if (!Number.isFinite(value)) return String(value)
  if (value < 0) return 'negative'
  return Number.isInteger(value) ? 'too large' : 'fraction'
}
