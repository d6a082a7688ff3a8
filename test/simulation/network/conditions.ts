/** From the first number to the second. */
export type Range = readonly [number, number]

/** The state of the network for connections that are opened from now on. Chances go from 0 to 1. */
export interface Conditions {
  /** Time of a byte on its way, in one direction. Drawn for each connection. */
  readonly latencyMs: Range
  /** Most that is added for each write. The bytes of a connection stay in order. */
  readonly jitterMs: number
  /** Of each direction of a connection. */
  readonly bytesPerMs: number
  /** Most bytes that arrive together. */
  readonly segmentBytes: number
  /** Bytes of one direction that were written and not read. Beyond them the writer waits. */
  readonly bufferBytes: number
  /** Chance that the port refuses the connection. */
  readonly refused: number
  /** Chance that nothing answers, so that connecting takes too long. */
  readonly unanswered: number
  /** Chance that the name is said not to exist (ENOTFOUND). */
  readonly unknownName: number
  /** Chance that the name server does not answer (EAI_AGAIN). */
  readonly nameServerSilent: number
  /** Chance of a reset after `cutAfterBytes` in one direction. */
  readonly reset: number
  /** Chance that something between the ends closes the connection in good order. */
  readonly closed: number
  /** Chance that nothing arrives any more after `cutAfterBytes`, while writes succeed. */
  readonly blackHole: number
  readonly cutAfterBytes: Range
  /** Chance that a reset overtakes the bytes before it, so that they are lost. */
  readonly resetOvertakes: number
}

export const fineConditions: Conditions = {
  latencyMs: [0.2, 2],
  jitterMs: 0,
  bytesPerMs: Number.POSITIVE_INFINITY,
  segmentBytes: 65_536,
  bufferBytes: 262_144,
  refused: 0,
  unanswered: 0,
  unknownName: 0,
  nameServerSilent: 0,
  reset: 0,
  closed: 0,
  blackHole: 0,
  cutAfterBytes: [0, 20_000],
  resetOvertakes: 0.5,
}

/** The end of a connection that neither side wants. */
export interface Cut {
  readonly how: 'reset' | 'closed' | 'black hole'
  readonly towards: 'server' | 'client'
  readonly afterBytes: number
}

/** All that is decided about a connection when it is opened. */
export interface Fate {
  readonly latencyMs: number
  readonly failure: 'refused' | 'unanswered' | 'ENOTFOUND' | 'EAI_AGAIN' | undefined
  readonly cut: Cut | undefined
}

/** Draws as often whatever it decides, so that a change of one chance moves no other. */
export function drawFate(conditions: Conditions, random: () => number): Fate {
  const { latencyMs, cutAfterBytes, unknownName, nameServerSilent, refused, unanswered } = conditions
  const latency = between(latencyMs, random())
  const failing = random()
  const cutting = random()
  const towards = random() < 0.5 ? 'server' : 'client'
  const afterBytes = Math.floor(between(cutAfterBytes, random()))
  const failure = pick<NonNullable<Fate['failure']>>(failing, [
    ['ENOTFOUND', unknownName],
    ['EAI_AGAIN', nameServerSilent],
    ['refused', refused],
    ['unanswered', unanswered],
  ])
  const how = pick<Cut['how']>(cutting, [
    ['reset', conditions.reset],
    ['closed', conditions.closed],
    ['black hole', conditions.blackHole],
  ])
  return { latencyMs: latency, failure, cut: how === undefined ? undefined : { how, towards, afterBytes } }
}

/** The choice whose part of the numbers from 0 to 1 has `drawn`; undefined beyond all parts. */
export function pick<Choice>(drawn: number, choices: readonly (readonly [Choice, number])[]): Choice | undefined {
  let from = 0
  for (const [choice, chance] of choices) {
    from += chance
    if (drawn < from) return choice
  }
  return undefined
}

export function between([from, to]: Range, drawn: number): number {
  return from + (to - from) * drawn
}
