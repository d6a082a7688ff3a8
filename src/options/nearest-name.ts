/**
 * The known name most like `name`, for "did you mean"; undefined when none is near.
 * Distance of Levenshtein (1965), two rows; at most a third of the letters may differ.
 */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.floor(name.length / 3) + 1
  for (const candidate of known) {
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
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const substitution = previous[column - 1]! + (from[row - 1] === to[column - 1] ? 0 : 1)
      current.push(Math.min(substitution, previous[column]! + 1, current[column - 1]! + 1))
    }
    previous = current
  }
  return previous[to.length]!
}
