import { levelNames, severityOfName } from '../../../../src/records/level.js'

export type LevelName = (typeof levelNames)[number]

/** A level of common loggers as they write it: `warn`, `Warn` and `WARN`. */
export function writtenNames(name: string): string[] {
  return [name, `${name.charAt(0).toUpperCase()}${name.slice(1)}`, name.toUpperCase()]
}

/** The levels that are at least as important, as loggers write them. */
export function levelsFrom(least: LevelName): string[] {
  const bound = severityOfName(least)!
  return levelNames.filter((name) => severityOfName(name)! >= bound).flatMap(writtenNames)
}
