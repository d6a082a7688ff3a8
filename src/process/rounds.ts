import { systemClock } from '../runtime/clock.js'

/** The two would move each other for ever. */
const mostRounds = 3
/** The same listener may be added and removed many times in a long life. */
const forgottenMs = 1000

/**
 * For a listener that stays the first, or the last, whenever another one is added. It says whether to move once more: another library may
 * keep its own listener there by the same means, and has the place after three rounds.
 */
export function movesAgain(): (added: unknown) => boolean {
  const rounds = new Map<unknown, number>()
  return (added) => {
    const round = (rounds.get(added) ?? 0) + 1
    if (round > mostRounds) return false
    if (rounds.size === 0) systemClock.schedule(() => rounds.clear(), forgottenMs)
    rounds.set(added, round)
    return true
  }
}

/** Listen, and stay the last listener whenever others are added. */
export function listenLast(
  host: Pick<NodeJS.Process, 'on' | 'off' | 'nextTick'>,
  event: 'beforeExit' | 'exit',
  listener: () => void,
): void {
  const moves = movesAgain()
  host.on(event, listener)
  host.on('newListener', (name, added) => {
    if (name !== event || added === listener || !moves(added)) return
    host.nextTick(() => {
      host.off(event, listener)
      host.on(event, listener)
    })
  })
}
