import type { ValidationError } from '../schemas/envelopes.js'

/** More than a content type of 500 fields can have; a body of 1 MiB could have a hundred times as many. */
const maxShown = 1000
/** What is nested deeper cannot be written as JSON without an end to the stack. */
const maxLevels = 100

/** Failures as an answer can hold them: so many, and only attempted values that can be written. */
export function shownFailures(failures: readonly ValidationError[]): ValidationError[] {
  const shown = failures
    .slice(0, maxShown)
    .map((failure) => (isDeeper(failure.attemptedValue, maxLevels) ? { ...failure, attemptedValue: null } : failure))
  const left = failures.length - shown.length
  if (left > 0) shown.push({ name: 'body', attemptedValue: null, message: `body has ${left} further failures` })
  return shown
}

/** Level by level, not by recursion: the depth is the sender's. */
function isDeeper(value: unknown, levels: number): boolean {
  let level = [value].filter(isNest)
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === levels) return true
    level = level.flatMap((nest) => Object.values(nest).filter(isNest))
  }
  return false
}

function isNest(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
