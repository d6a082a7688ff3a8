/** Any function: `any`, for with `never` or `unknown` parameters that carry no type of their own could not be used in it. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Tracked = (...args: any[]) => unknown

/** What `track` is, of the process or of an instance. */
type Track = (eventId: number) => void

/**
 * The same function, which records an event each time that it returns, or that the promise which it returns resolves; not when it
 * throws or rejects. `this`, arguments and result are passed on as they are.
 *
 * @throws {TypeError} when `run` is no function
 */
export function trackedBy<Run extends Tracked>(
  track: Track,
  { eventId, run }: { readonly eventId: number; readonly run: Run },
): Run {
  if (typeof run !== 'function') throw new TypeError(`tracked: expected a function, got ${typeof run}`)
  function recorded(this: unknown, ...args: unknown[]): unknown {
    const result = run.apply(this, args)
    if (isThenable(result)) {
      // The caller gets the promise itself: whether it is handled is the caller's affair, of this branch nothing is left unhandled.
      try {
        result.then(
          () => track(eventId),
          () => {},
        )
      } catch {
        // It never resolves: whoever waits for it meets with the same.
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
