import type { Severity } from '../records/level.js'
import type { PlaceState, Segment } from './segment.js'

/** The segments of an engine by severity, the oldest first. */
export class Segments {
  readonly #bySeverity: readonly Segment[][] = Array.from({ length: 7 }, () => [])

  add(segment: Segment): void {
    const chain = this.#bySeverity[segment.severity]!
    const after = chain.findLastIndex(({ lastAt }) => lastAt <= segment.lastAt)
    chain.splice(after + 1, 0, segment)
  }

  delete(segment: Segment): void {
    const chain = this.#bySeverity[segment.severity]!
    const index = chain.indexOf(segment)
    if (index !== -1) chain.splice(index, 1)
  }

  /** All of them, now. */
  list(): readonly Segment[] {
    return this.#bySeverity.flat()
  }

  /** The oldest of the least severe, of those that are no more severe than this. */
  leastWanted(most: Severity): Segment | undefined {
    for (let severity = 0; severity <= most; severity++) {
      const oldest = this.#bySeverity[severity]![0]
      if (oldest !== undefined) return oldest
    }
    return undefined
  }

  /** The oldest of the most severe in which records of a lane are in this place. */
  mostWanted(lane: number, place: PlaceState): Segment | undefined {
    for (let severity = 6; severity >= 0; severity--) {
      const found = this.#bySeverity[severity]!.find((each) => each.lane === lane && each.count(place) > 0)
      if (found !== undefined) return found
    }
    return undefined
  }
}
