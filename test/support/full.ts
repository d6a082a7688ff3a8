/** True with FULL=1 and in `npm run test:full`: every row of every matrix, more seeds, and what takes long. */
export const full = process.env.FULL !== undefined

/** True with FULL=all and in `npm run test:full`: the largest loads and all runs, too, for which `.ci/run` has no time. */
export const everything = process.env.FULL === 'all'

/** Mutation testing needs all rows and runs, too. It bounds their time: see mutation/few-runs.ts. */
const isMutated = process.env.MUTATED_PART !== undefined

/** All rows with FULL; in `npm test` the chosen ones, which stand for the others. */
export function rowsOf<Row>(all: readonly Row[], chosen: (row: Row) => boolean): Row[] {
  return full || isMutated ? [...all] : all.filter(chosen)
}

/** The number of runs of a random test: some in `npm test`, a fifth of all with FULL=1. */
export function runs({ some, all }: { readonly some: number; readonly all: number }): number {
  if (everything || isMutated) return all
  return full ? Math.max(some, Math.ceil(all / 5)) : some
}
