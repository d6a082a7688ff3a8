/**
 * How much a record matters when room or time is short, from 0 (trace) to 6 (a value record).
 * Six classes suffice: custom levels fall into the class of the pino level just below them.
 */
export type Severity = 0 | 1 | 2 | 3 | 4 | 5 | 6

/** A value record is a number that somebody counts on: it outlives every log line. */
export const valueSeverity: Severity = 6

const byName: Readonly<Record<string, Severity>> = {
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
}

/** Severity of a level by its name; undefined for a name that no common logger uses. */
export function severityOfName(name: string): Severity | undefined {
  return byName[name.toLowerCase()]
}

/** Severity of one of pino's numbers: the class of the nearest of pino's levels below it. */
export function severityOfNumber(level: number): Severity {
  if (!(level >= 20)) return 0
  return Math.min(5, Math.floor(level / 10) - 1) as Severity
}

/** Names of pino's levels by number, with lookup of the nearest one below for numbers without a name. */
export class LevelNames {
  readonly #names = new Map<number, string>()
  readonly #ascending: readonly number[]

  constructor(labels: Readonly<Record<string, string>> = pinoLabels) {
    for (const [number, name] of Object.entries(labels)) this.#names.set(Number(number), name.toLowerCase())
    this.#ascending = [...this.#names.keys()].filter(Number.isFinite).sort((a, b) => a - b)
  }

  /** Whether this is the name or the number of one of the levels. */
  knows(level: unknown): boolean {
    if (typeof level === 'number') return this.#names.has(level)
    return typeof level === 'string' && [...this.#names.values()].includes(level.toLowerCase())
  }

  nameOf(level: number): string {
    const exact = this.#names.get(level)
    if (exact !== undefined) return exact
    let nearest = this.#ascending[0]
    for (const number of this.#ascending) if (number <= level) nearest = number
    return (nearest === undefined ? undefined : this.#names.get(nearest)) ?? 'info'
  }
}

const pinoLabels = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' }
