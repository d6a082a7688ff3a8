import { systemClock } from '../runtime/clock.js'

/** While this thread is blocked: a worker that does not answer, or takes no line, for this time is stuck. */
const patienceMs = 1000
const lookMs = 10

/**
 * thread-stream's `flushSync` waits ten seconds for a stuck worker, more than the end of a process may take. This one waits only while the
 * worker takes lines. For that it replaces `Atomics.wait` during the call.
 *
 * @param plan `isStarting`: on a busy machine it takes seconds until the worker takes its first line
 * @throws when the worker takes none for a second, unless it is starting, and at the deadline
 */
export function flushWhileItTakes(
  stream: { flushSync(): void },
  {
    progress,
    deadline,
    isStarting = false,
  }: { readonly progress: () => number; readonly deadline: number; readonly isStarting?: boolean },
): void {
  const { wait } = Atomics
  let seen = progress()
  let patientUntil = isStarting ? deadline : systemClock.now() + patienceMs
  const isStuck = () => {
    const now = systemClock.now()
    if (progress() !== seen) patientUntil = now + patienceMs
    seen = progress()
    return now >= Math.min(patientUntil, deadline)
  }
  const watched = (words: Int32Array, index: number, value: number, ms: number): ReturnType<typeof wait> => {
    const until = systemClock.now() + ms
    for (;;) {
      const result = wait(words, index, value, Math.min(lookMs, ms))
      if (result !== 'timed-out' || systemClock.now() >= until) return result
      if (isStuck()) throw new Error('the worker takes no line')
    }
  }
  Atomics.wait = watched as typeof wait
  try {
    stream.flushSync()
  } finally {
    Atomics.wait = wait
  }
}
