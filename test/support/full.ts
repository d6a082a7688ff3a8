/** True in `npm run test:full`, which runs every row of every matrix, more seeds, and what takes long. */
export const full = process.env.FULL !== undefined

/** Mutation testing needs all rows and runs, too. It bounds their time: see mutation/few-runs.ts. */
const thorough = full || process.env.MUTATED_PART !== undefined

/** All rows in `npm run test:full`; in `npm test` the chosen ones, which stand for the others. */
export function rowsOf<Row>(all: readonly Row[], chosen: (row: Row) => boolean): Row[] {
  return thorough ? [...all] : all.filter(chosen)
}

/** The number of runs of a random test: all in `npm run test:full`, some in `npm test`. */
export function runs({ some, all }: { readonly some: number; readonly all: number }): number {
  return thorough ? all : some
}
