/** How long somebody waits for a search. */
export interface Patience {
  isOver(): boolean
}

/** Begins now. Undefined for one that does not end. */
export function patienceOf(ms: number | undefined): Patience | undefined {
  if (ms === undefined) return undefined
  const end = performance.now() + ms
  return { isOver: () => performance.now() > end }
}
