/** The years 0000 to 9999: other times count as the nearest of these. */
export const earliestMs = -62_167_219_200_000
export const latestMs = 253_402_300_799_999

export const minuteMs = 60_000
export const hourMs = 3_600_000
export const dayMs = 86_400_000

/** A smaller time is in seconds (the limit is the year 5138), a larger one in milliseconds (the limit is 1973). */
const secondsBelow = 1e11

/**
 * The time of a record in ms since 1970. The API's document does not name the unit. Records are stored as they were sent; only filters
 * need this value.
 */
export function recordTimeMs(timeStamp: number): number {
  return Math.abs(timeStamp) < secondsBelow ? timeStamp * 1000 : timeStamp
}
