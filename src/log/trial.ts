import { none, type Segment, type Trial } from './segment.js'

/** The trial of a record. It is made when it is first asked for, and goes with the record. */
export function trialOf(segment: Segment, index: number): Trial {
  segment.trials ??= new Map()
  const known = segment.trials.get(index)
  if (known !== undefined) return known
  const trial: Trial = {
    segment,
    index,
    blame: none,
    wasAlone: false,
    notBefore: Number.NEGATIVE_INFINITY,
    excessive: false,
    failures: 0,
    fails: 0,
    vain: 0,
    failedAt: Number.NEGATIVE_INFINITY,
    deliveredBefore: -1,
    settledBefore: -1,
    pressed: false,
    unanswered: false,
    dueAt: Number.POSITIVE_INFINITY,
  }
  segment.trials.set(index, trial)
  return trial
}
