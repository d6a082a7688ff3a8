import { parentPort } from 'node:worker_threads'
import type { FromThread, ToThread } from './thread-link.js'

/**
 * The thread's side of a ThreadLink. The thread ends by itself when nothing is left to do: ended from outside, it may be in the
 * middle of a step.
 */
export function serve<Question>({
  answer,
  close,
}: {
  readonly answer: (question: Question) => unknown
  readonly close: () => void | Promise<void>
}): void {
  const port = parentPort!
  port.on('message', async (message: ToThread) => {
    if (message === 'close') {
      await close()
      port.close()
      return
    }
    const { id, question } = message
    try {
      port.postMessage({ id, result: await answer(question as Question) } satisfies FromThread)
    } catch (error) {
      port.postMessage({ id, error: error as Error } satisfies FromThread)
    }
  })
}
