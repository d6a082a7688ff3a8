/**
 * The known name most similar to `name`, for "did you mean"; undefined if none is near.
 *
 * The measure is the distance of Damerau (1964) and Levenshtein (1965), where two swapped neighbours are one mistake. At most a third of
 * the letters may differ, or one.
 */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1
  for (const candidate of known) {
    // The distance is at least the difference of the lengths.
    if (Math.abs(name.length - candidate.length) >= bestDistance) continue
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column)
  let beforePrevious = previous
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const substitution = previous[column - 1]! + (from[row - 1] === to[column - 1] ? 0 : 1)
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const swap = row > 1 && column > 1 && swapped ? beforePrevious[column - 2]! + 1 : Number.POSITIVE_INFINITY
      current.push(Math.min(substitution, previous[column]! + 1, current[column - 1]! + 1, swap))
    }
    beforePrevious = previous
    previous = current
  }
  return previous[to.length]!
}
