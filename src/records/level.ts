/**
 * The importance of a record when room or time is short, from 0 (trace) to 6 (a value record). Custom levels are in the class of the
 * pino level just below them.
 */
export type Severity = 0 | 1 | 2 | 3 | 4 | 5 | 6

/** Value records are counted, so they are kept longer than any log record. */
export const valueSeverity: Severity = 6
/** Errors are at least this important. */
export const errorSeverity: Severity = 4

// A map: a logger may have a level of any name, such as `constructor`.
const byName: ReadonlyMap<string, Severity> = new Map(
  Object.entries({
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
  } as const),
)

/** The names of levels that common loggers use, in lower case, from the least important on. */
export const levelNames: readonly string[] = [...byName.keys()]

/** Importance of a level by its name, in any case: 0 (`trace`) to 5 (`fatal`); undefined for a name that is not among `levelNames`. */
export function severityOfName(name: string): Severity | undefined {
  return byName.get(name.toLowerCase())
}

/** Severity by pino's number: the class of the nearest pino level that is not above it. */
export function severityOfNumber(level: number): Severity {
  if (!(level >= 20)) return 0
  return Math.min(5, Math.floor(level / 10) - 1) as Severity
}

/**
 * Levels of a logger of pino by number. A number without a name has that of the nearest level below. A level that has the name of a common
 * logger's is as important as that one. So the order of the numbers is known, too: with `levelComparison: 'DESC'` it is the other way round.
 */
export class LevelNames {
  /** True where lower numbers are more important. */
  readonly isDescending: boolean
  readonly #names = new Map<number, string>()
  readonly #ascending: readonly number[]
  readonly #severities = new Map<number, Severity>()

  constructor(labels: Readonly<Record<string, string>> = pinoLabels) {
    for (const [number, name] of Object.entries(labels)) this.#names.set(Number(number), name.toLowerCase())
    this.#ascending = [...this.#names.keys()].filter(Number.isFinite).sort((a, b) => a - b)
    for (const number of this.#ascending) {
      const severity = severityOfName(this.nameOf(number))
      if (severity !== undefined) this.#severities.set(number, severity)
    }
    const severities = [...this.#severities.values()]
    this.isDescending = severities.length > 0 && severities[0]! > severities.at(-1)!
  }

  /** True for the name or the number of one of the levels. */
  knows(level: unknown): boolean {
    if (typeof level === 'number') return this.#names.has(level)
    return typeof level === 'string' && this.numberOf(level) !== undefined
  }

  /** The number of a name, in any case; undefined for one that is none of the levels. */
  numberOf(name: string): number | undefined {
    const lower = name.toLowerCase()
    for (const [number, each] of this.#names) if (each === lower) return number
    return undefined
  }

  nameOf(level: number): string {
    const exact = this.#names.get(level)
    if (exact !== undefined) return exact
    let nearest = this.#ascending[0]
    for (const number of this.#ascending) if (number <= level) nearest = number
    return (nearest === undefined ? undefined : this.#names.get(nearest)) ?? 'info'
  }

  severityOf(level: number): Severity {
    const known = this.#severities.get(level)
    if (known !== undefined) return known
    if (!this.isDescending) return severityOfNumber(level)
    const severities = [...this.#severities]
    return (severities.find(([number]) => number > level) ?? severities.at(-1)!)[1]
  }
}

const pinoLabels = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' }
