/** The usual levels, from the worst on. */
const usual = ['fatal', 'error', 'warn', 'info', 'debug', 'trace']
/** Chips of these are always there. */
const always = new Set(['error', 'warn', 'info', 'debug'])
const styles: Readonly<Record<string, string>> = {
  fatal: 'fatal',
  emerg: 'fatal',
  alert: 'fatal',
  crit: 'fatal',
  critical: 'fatal',
  error: 'error',
  warn: 'warn',
  warning: 'warn',
  info: 'info',
  notice: 'info',
  http: 'info',
  debug: 'debug',
  verbose: 'debug',
  trace: 'trace',
  silly: 'trace',
}

/** The levels in the order of their chips: the usual ones, and all others that occur. */
export function levelOrder(occurring: Iterable<string>): string[] {
  const levels = new Set(occurring)
  const others = [...levels].filter((level) => !usual.includes(level)).sort()
  return [...usual.filter((level) => always.has(level) || levels.has(level)), ...others]
}

/** The class that colours a level. */
export function levelClass(level: string): string {
  const key = level.toLowerCase()
  return `level-${Object.hasOwn(styles, key) ? styles[key] : 'other'}`
}
