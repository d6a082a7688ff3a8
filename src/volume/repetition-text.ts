/** Lines that were suppressed as they repeat one another. */
export interface Repetition {
  /** Message of the first of them: a text that is cut ends with `…`. */
  readonly text: string
  /** Number of suppressed lines. */
  readonly count: number
  /** The time in milliseconds within which they came. */
  readonly windowMs: number
}

/** The message of the record that counts suppressed lines: `… (repeated 4,211 times in 60 s)`. */
export function repetitionText({ text, count, windowMs }: Repetition): string {
  const ms = Math.max(1, Math.round(windowMs))
  const time = ms < 1000 ? `${ms} ms` : `${grouped(Math.round(ms / 1000))} s`
  return `${text} (repeated ${grouped(count)} ${count === 1 ? 'time' : 'times'} in ${time})`
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}
