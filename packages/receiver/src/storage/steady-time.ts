/** The clocks of this machine, in ms. */
export interface Clocks {
  /** Since 1970. People and programs set it. */
  readonly wall: () => number
  /** Since any moment. It never jumps. */
  readonly monotonic: () => number
}

/** The clocks of the machine. */
export const systemClocks: Clocks = { wall: () => Date.now(), monotonic: () => performance.now() }

/**
 * The time since 1970 by the wall clock at the start and the monotonic clock since: a wall clock that is set meanwhile changes no age. Between two
 * runs only the wall clock counts.
 *
 * @returns a function for the time in whole ms
 */
export function steadyTime({ wall, monotonic }: Clocks = systemClocks): () => number {
  const ahead = wall() - monotonic()
  return () => Math.round(ahead + monotonic())
}
