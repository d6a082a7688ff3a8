import { severityOfName } from '../../../../src/records/level.js'

/** The usual levels, from the worst on. */
const usual = ['fatal', 'error', 'warn', 'info', 'debug', 'trace']
/** Chips of these are always there. */
const always = new Set(['error', 'warn', 'info', 'debug'])
/** By severity. */
const classes = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']

/** The levels in the order of their chips: the usual ones, and all others that occur. */
export function levelOrder(occurring: Iterable<string>): string[] {
  const levels = new Set(occurring)
  const others = [...levels].filter((level) => !usual.includes(level)).sort()
  return [...usual.filter((level) => always.has(level) || levels.has(level)), ...others]
}

/** The class that colours a level. */
export function levelClass(level: string): string {
  return `level-${classes[severityOfName(level) ?? -1] ?? 'other'}`
}
