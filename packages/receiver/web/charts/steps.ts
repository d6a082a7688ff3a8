/** A chart has about this many bars at most. */
export const maxBars = 90
export const minuteMs = 60_000
export const dayMs = 1440 * minuteMs
/** Lengths of a bar, in minutes up to a day, and in days. */
const minutes = [1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 360, 720]
const days = [1, 2, 5, 10, 30, 90, 365, 1000, 10_000]
/** Where the time stamps of a bucket are millennia apart. */
export const longestMs = 100_000 * dayMs
const lengthsMs = [...minutes.map((count) => count * minuteMs), ...days.map((count) => count * dayMs), longestMs]

/** The shortest step that makes few enough bars. */
export function stepFor(spanMs: number): number {
  return lengthsMs.find((ms) => spanMs / ms <= maxBars) ?? longestMs
}

/** The step as the receiver's queries write it. */
export function writtenStep(stepMs: number): string {
  return stepMs < dayMs ? `${stepMs / minuteMs}m` : `${stepMs / dayMs}d`
}
