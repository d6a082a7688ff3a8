import { nearestName } from '../../../src/options/nearest-name.js'

/** The words for a project or a bucket that does not exist, with the known one that looks most like it. */
export function noneSuch(kind: 'bucket' | 'project', id: string, known: readonly string[]): string {
  const nearest = nearestName(id, known)
  return `there is no ${kind} ${id}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`
}
