import { levelNames, severityOfName } from '../../../../src/records/level.js'

export type LevelName = (typeof levelNames)[number]

/** The levels that are at least as important, as loggers write them: `warn`, `Warn` and `WARN`. */
export function levelsFrom(least: LevelName): string[] {
  const bound = severityOfName(least)!
  return levelNames
    .filter((name) => severityOfName(name)! >= bound)
    .flatMap((name) => [name, `${name.charAt(0).toUpperCase()}${name.slice(1)}`, name.toUpperCase()])
}
