/**
 * `connected`: a worker takes the lines. `waiting`: there is none now, lines are kept within the bound. `inline`: no worker can be started,
 * an engine in this thread delivers. `closed`: nothing is taken any more, and every call is answered from the ledger.
 */
export type HandOffMode = 'connected' | 'waiting' | 'inline' | 'closed'

const next: Readonly<Record<HandOffMode, readonly HandOffMode[]>> = {
  waiting: ['connected', 'inline', 'closed'],
  connected: ['waiting', 'inline', 'closed'],
  inline: ['closed'],
  closed: [],
}

/** The mode of a hand-off. It begins with `waiting`; nothing leads out of `closed`. */
export class HandOffModes {
  #now: HandOffMode = 'waiting'

  get now(): HandOffMode {
    return this.#now
  }

  /** The only way from one mode to another; false, and nothing is changed, where the present mode does not lead there. */
  turn(mode: HandOffMode): boolean {
    if (!next[this.#now].includes(mode)) return false
    this.#now = mode
    return true
  }
}
