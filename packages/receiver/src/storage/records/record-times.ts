/** The years 0000 to 9999: other times count as the nearest of these. */
export const earliestMs = -62_167_219_200_000
export const latestMs = 253_402_300_799_999

export const minuteMs = 60_000
export const hourMs = 3_600_000
export const dayMs = 86_400_000

/** Smaller times are in seconds (the limit is the year 5138), in ms (1973 to 5138), in µs, and in ns. */
const below = { seconds: 1e11, milliseconds: 1e14, microseconds: 1e17 } as const
/** A time of this size, or a larger one, is none in any of these units. */
export const timesBelow = 1e20

/**
 * The time of a record in ms since 1970. The API's document does not name the unit. Records are stored as they were sent; only filters
 * need this value.
 */
export function recordTimeMs(timeStamp: number): number {
  const size = Math.abs(timeStamp)
  if (size < below.seconds) return timeStamp * 1000
  if (size < below.milliseconds) return timeStamp
  return size < below.microseconds ? timeStamp / 1000 : timeStamp / 1_000_000
}
