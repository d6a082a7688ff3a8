/** Below this, a time is in seconds (it would be the year 5138), else in milliseconds (it would be 1973). */
const secondsBelow = 1e11

/**
 * The time of a record in ms since 1970. The API does not say which unit it takes; records are kept as they were sent, and only
 * filters on their time need to know.
 */
export function recordTimeMs(timeStamp: number): number {
  return Math.abs(timeStamp) < secondsBelow ? timeStamp * 1000 : timeStamp
}
