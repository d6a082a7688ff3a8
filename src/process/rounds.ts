import { systemClock } from '../runtime/clock.js'

/** The two would move each other for ever. */
const mostRounds = 3
/** A listener that is added so soon after ours has moved is added because ours has. */
const reactionMs = 50

/**
 * For a listener that stays the first, or the last, whenever another one is added. It says whether to move once more: another library may
 * keep its own listener there by the same means, and has the place after three rounds.
 */
export function movesAgain(): (added: unknown) => boolean {
  const rounds = new Map<unknown, number>()
  let movedAt = Number.NEGATIVE_INFINITY
  return (added) => {
    const now = systemClock.now()
    if (now - movedAt >= reactionMs) rounds.clear()
    const round = (rounds.get(added) ?? 0) + 1
    if (round > mostRounds) return false
    rounds.set(added, round)
    movedAt = now
    return true
  }
}

/** Listen, and stay the last listener whenever others are added. */
export function listenLast(
  host: Pick<NodeJS.Process, 'on' | 'off' | 'nextTick'>,
  event: 'beforeExit' | 'exit',
  listener: (code?: number) => void,
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
