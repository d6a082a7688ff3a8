/** Names of levels that common loggers use, by importance: the same as those of the library. */
const severities = {
  silly: 0,
  trace: 0,
  debug: 1,
  verbose: 1,
  http: 2,
  data: 2,
  info: 2,
  notice: 2,
  help: 2,
  prompt: 2,
  warn: 3,
  warning: 3,
  error: 4,
  crit: 5,
  critical: 5,
  alert: 5,
  emerg: 5,
  fatal: 5,
} as const

export type LevelName = keyof typeof severities
export const levelNames = Object.keys(severities) as readonly LevelName[]

/** The levels that are at least as important, as loggers write them: `warn`, `Warn` and `WARN`. */
export function levelsFrom(least: LevelName): string[] {
  return levelNames
    .filter((name) => severities[name] >= severities[least])
    .flatMap((name) => [name, `${name.charAt(0).toUpperCase()}${name.slice(1)}`, name.toUpperCase()])
}
