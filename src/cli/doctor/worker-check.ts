import { type WorkerFailure, WorkerLink } from '../../hand-off/worker-link.js'
import { describeError } from '../../http/describe-error.js'
import type { ResolvedOptions } from '../../options/options.js'
import { inTime } from './deadline.js'
import { bad, type Finding, good } from './finding.js'

/** Check that the delivery worker starts and answers. It gets no engine. */
export async function checkWorker(options: ResolvedOptions, ms: number): Promise<Finding> {
  if (options.mode === 'inline') return good('worker', 'none is used: the mode is inline')
  const advice = 'without it, delivery runs in the application’s thread; SLUICE_MODE=inline chooses this'
  const startedAt = performance.now()
  let link: WorkerLink | undefined
  try {
    const started = await inTime(
      () =>
        new Promise<string | undefined>((resolve) => {
          const failed = ({ reason }: WorkerFailure) => resolve(reason)
          link = new WorkerLink({ received: () => {}, busy: () => true, taking: () => undefined, failed })
          void link.whenStarted().then(() => resolve(undefined))
        }),
      { ms },
    )
    if (started.type === 'late') return bad('worker', { text: `does not answer within ${ms} ms`, advice })
    if (started.result !== undefined) return bad('worker', { text: started.result, advice })
    return good('worker', `answers ${Math.round(performance.now() - startedAt)} ms after its start`)
  } catch (error) {
    return bad('worker', { text: describeError(error), advice })
  } finally {
    await link?.terminate()
  }
}
