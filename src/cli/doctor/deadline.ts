import { systemClock } from '../../runtime/clock.js'

/** The result of work, or that it did not end in time. */
type InTime<Result> = { readonly type: 'done'; readonly result: Result } | { readonly type: 'late' }

/** Wait for work, `ms` at most. Rejects when the work rejects. The work must clean up at `signal`. */
export async function inTime<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  { ms }: { readonly ms: number },
): Promise<InTime<Result>> {
  const controller = new AbortController()
  let cancel = () => {}
  const late = new Promise<InTime<Result>>((resolve) => {
    const timer = systemClock.schedule(() => resolve({ type: 'late' }), ms, true)
    cancel = () => timer.cancel()
  })
  try {
    return await Promise.race([late, work(controller.signal).then((result) => ({ type: 'done', result }) as const)])
  } finally {
    cancel()
    controller.abort()
  }
}
