import { type Clock, systemClock } from '../../runtime/clock.js'

/** What a look came to in its time, or that it did not end. */
export type InTime<Result> = { readonly type: 'done'; readonly result: Result } | { readonly type: 'late' }

/** Wait for a look, so long at most; what it rejects with is thrown. Whoever looks must clean up by `signal`. */
export async function inTime<Result>(
  look: (signal: AbortSignal) => Promise<Result>,
  { ms, clock = systemClock }: { readonly ms: number; readonly clock?: Clock },
): Promise<InTime<Result>> {
  const controller = new AbortController()
  let cancel = () => {}
  const late = new Promise<InTime<Result>>((resolve) => {
    const timer = clock.schedule(() => resolve({ type: 'late' }), ms, true)
    cancel = () => timer.cancel()
  })
  try {
    return await Promise.race([late, look(controller.signal).then((result) => ({ type: 'done', result }) as const)])
  } finally {
    cancel()
    controller.abort()
  }
}
